"""How near an answer is to the right one, in the words of the published scorers.

Normalisation and F1 are those of HotpotQA's official script (``hotpot_evaluate_v1.py``), whose
normalisation is that of SQuAD: lower case, then without ASCII punctuation, then without articles,
with single spaces. Where a question has several right answers, the best score counts (as in the
official scripts of SQuAD, MuSiQue and 2WikiMultiHopQA).

Two things are the kit's own. Dashes and minus signs of all kinds are ASCII's, since a reader may
write 1914-1918 where the answer has 1914–1918. And where nothing would be left of an answer, its
articles stay, or else its punctuation: "The" is not "A".
"""

import re
import string
from collections import Counter

from kit.corpus.types import Texts

#: All that Unicode calls dash punctuation, and minus signs.
_DASHES = re.compile("[֊־᐀᠆‐-―⁻₋−⸗⸚⸺⸻⹀⹝〜〰゠︱︲﹘﹣－𐺭]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE = frozenset({"yes", "no", "noanswer"})  # answers that are right as a whole or not at all


def normalise(answer: str) -> str:
    """What is compared: "The Hague!" and "hague" are the same."""
    lowered = _DASHES.sub("-", answer.lower())
    letters = lowered.translate(_PUNCTUATION)
    words = _ARTICLES.sub(" ", letters).split() or letters.split() or lowered.split()
    return " ".join(words)


def exact_match(prediction: str, answers: Texts) -> float:
    """EM: 1 if the prediction equals one of the answers, normalised, else 0 (RAS Eq. 16)."""
    return float(normalise(prediction) in _normalised(answers))


def f1(prediction: str, answers: Texts) -> float:
    """F1 of the words in common, against the nearest of the answers (RAS Eqs. 13 to 15).

    A repeated word counts as often as it is in both. As in HotpotQA's script, "yes", "no" and
    "noanswer" score 0 unless both sides are equal. It is never below EM.
    """
    predicted = normalise(prediction)
    return max((_f1(predicted, answer) for answer in _normalised(answers)), default=0.0)


def contains(prediction: str, answers: Texts) -> float:
    """Accuracy by containment: 1 if one of the answers stands in the prediction, in whole words.

    Both are normalised. RAS's golden match (RAS Eq. 12) asks for a substring of the prediction;
    whole words keep "no" out of "Norway". It stands in for an accuracy that a model judges (KGP
    Listing 5), and gains by long predictions (ras-i22).
    """
    text = f" {normalise(prediction)} "
    return float(any(f" {answer} " in text for answer in _normalised(answers)))


def nearest_option(answer: str, options: Texts) -> str:
    """Which of a question's options an answer means: that of the best F1, the first of equals.

    Empty where no option has a word of the answer.
    """
    scores = [f1(answer, [option]) for option in options]
    best = max(scores)
    return options[scores.index(best)] if best else ""


def _normalised(answers: Texts) -> list[str]:
    """Those that say something."""
    return list(filter(None, map(normalise, answers)))


def _f1(prediction: str, answer: str) -> float:
    if prediction != answer and not _WHOLE.isdisjoint([prediction, answer]):
        return 0.0

    predicted = Counter(prediction.split())
    right = Counter(answer.split())
    common = (predicted & right).total()
    # 2 · precision · recall / (precision + recall), where these are common / predicted and / right
    return 2 * common / (predicted.total() + right.total())
