"""How near an answer is to the right one, in the words of the published scorers.

Normalisation and F1 are those of HotpotQA's official script (``hotpot_evaluate_v1.py``), whose
normalisation is that of SQuAD: lower case, then without ASCII punctuation, then without articles,
with single spaces. Where a question has several right answers, the best score counts (as in the
official scripts of SQuAD, MuSiQue and 2WikiMultiHopQA).
"""

import re
import string
from collections import Counter

from kit.corpus.types import Texts

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE = frozenset({"yes", "no", "noanswer"})  # answers that are right as a whole or not at all


def normalise(answer: str) -> str:
    """What is compared: "The Hague!" and "hague" are the same."""
    letters = answer.lower().translate(_PUNCTUATION)
    words = _ARTICLES.sub(" ", letters).split()
    return " ".join(words)


def exact_match(prediction: str, answers: Texts) -> float:
    """EM: 1 if the prediction equals one of the answers, normalised, else 0 (ras.txt Eq. 16)."""
    return float(normalise(prediction) in map(normalise, answers))


def f1(prediction: str, answers: Texts) -> float:
    """F1 of the words in common, against the nearest of the answers (ras.txt Eqs. 13 to 15).

    A repeated word counts as often as it is in both. As in HotpotQA's script, "yes", "no" and
    "noanswer" score 0 unless both sides are equal, and so does an answer of which normalisation
    leaves nothing.
    """
    predicted = normalise(prediction)
    return max((_f1(predicted, normalise(answer)) for answer in answers), default=0.0)


def contains(prediction: str, answers: Texts) -> float:
    """Accuracy by containment: 1 if one of the answers stands in the prediction, in whole words.

    Both are normalised. RAS's golden match (ras.txt Eq. 12) asks for a substring of the prediction;
    whole words keep "no" out of "Norway". It stands in for an accuracy that a model judges (kgp.txt
    Listing 5), and gains by long predictions (ras-i22).
    """
    text = f" {normalise(prediction)} "
    normalised = filter(None, map(normalise, answers))
    return float(any(f" {answer} " in text for answer in normalised))


def _f1(prediction: str, answer: str) -> float:
    if prediction != answer and not _WHOLE.isdisjoint([prediction, answer]):
        return 0.0

    predicted = Counter(prediction.split())
    right = Counter(answer.split())
    common = (predicted & right).total()
    # 2 · precision · recall / (precision + recall), where these are common / predicted and / right
    return 2 * common / (predicted.total() + right.total()) if common else 0.0
