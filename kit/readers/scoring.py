"""How near an answer is to the right one, in the words of the published scorers.

Normalisation and F1 are those of HotpotQA's official script (``hotpot_evaluate_v1.py``), whose normalisation is that of
SQuAD: lower case, then without ASCII punctuation, then without articles, with single spaces. Where a question has
several right answers, the best score counts (as in the official scripts of SQuAD, MuSiQue and 2WikiMultiHopQA).
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE = frozenset({"yes", "no", "noanswer"})  # answers that are right as a whole or not at all


def normalise(answer: str) -> str:
    """What is compared: "The Hague!" and "hague" are the same."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """EM: 1 if the prediction equals one of the answers, normalised, else 0."""
    return float(normalise(prediction) in {normalise(answer) for answer in answers})


def f1(prediction: str, answers: Sequence[str]) -> float:
    """F1 of the words in common, a repeated word as often as it is in both; against the nearest of the answers.

    As in HotpotQA's script, "yes", "no" and "noanswer" score 0 unless both sides are equal, and so does an answer of
    which normalisation leaves nothing.
    """
    return max((_f1(normalise(prediction), normalise(answer)) for answer in answers), default=0.0)


def contains(prediction: str, answers: Sequence[str]) -> float:
    """Accuracy by containment: 1 if one of the answers stands in the prediction, both normalised, in whole words.

    RAS's golden match asks for a substring of the prediction; whole words keep "no" out of "Norway". It stands in for
    an accuracy that a model judges (kgp.txt Listing 5), and gains by long predictions (ras-i22).
    """
    said = f" {normalise(prediction)} "
    return float(any(f" {normalise(answer)} " in said for answer in answers if normalise(answer)))


def _f1(prediction: str, answer: str) -> float:
    if prediction != answer and (prediction in _WHOLE or answer in _WHOLE):
        return 0.0
    said, right = Counter(prediction.split()), Counter(answer.split())
    common = (said & right).total()
    return 2 * common / (said.total() + right.total()) if common else 0.0
