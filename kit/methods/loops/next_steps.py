"""The next step that a chat model's reply wants, in the words of each loop.

Each function takes a reply and the texts of the steps before. It gives the text of the next step,
an empty one where there is enough, and None where the reply says neither. A model may tell earlier
steps again, and write on as if the new one had been answered: so the first new one counts.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from kit.corpus.sentences import split_sentences
from kit.corpus.types import Texts
from kit.methods.loops.steps import NO_RETRIEVAL
from kit.text.replies import ANSWER, labelled, plain_reply

_ACTIONS = "SUBQ|NO_RETRIEVAL|SUFFICIENT"
_FOLLOW_UP = r"follow[ -]?up(?: question)?(?: \d+)?:"
_NO_MORE = rf"are follow[ -]?up questions needed here: no\b|{ANSWER}"


def planned_action(reply: str, earlier: Texts) -> str | None:
    """RAS's: ``[SUBQ] …``, ``[SUFFICIENT]`` or ``[NO_RETRIEVAL]``, which is the text then."""
    actions = labelled(reply, rf"\[(?:{_ACTIONS})\]|(?-i:(?:{_ACTIONS})\b)")
    label, text = actions[0] if actions else ("", "")
    if "SUFFICIENT" in label.upper():
        return ""
    if "NO_RETRIEVAL" in label.upper():
        return NO_RETRIEVAL
    return text or None


def follow_up_question(reply: str, earlier: Texts) -> str | None:
    """SelfAsk's: ``Follow up: …``, or ``So the final answer is: …``."""
    questions = []
    for label, text in labelled(reply, rf"{_FOLLOW_UP}|intermediate answer:|{_NO_MORE}"):
        if label.lower().startswith("follow"):
            questions.append(text)
        elif not label.lower().startswith("intermediate"):
            return next(_new(questions, earlier), "")
    return _first(questions, earlier)


def next_question(reply: str, earlier: Texts) -> str | None:
    """The self-critique's: ``Next step: …``, or the question alone."""
    questions = [text for _, text in labelled(reply, "(?:next (?:step|question)|output|question):")]
    return _first(questions or plain_reply(reply).splitlines()[:1], earlier)


def next_thought(reply: str, earlier: Texts) -> str | None:
    """IRCoT's: a sentence, until one of them has the answer."""
    thought = _first(split_sentences(plain_reply(reply)), earlier)
    return "" if thought and "answer is" in thought.lower() else thought


def _first(texts: Texts, earlier: Texts) -> str | None:
    """The first text that is new; where none is, the first of all."""
    return next(chain(_new(texts, earlier), filter(None, texts)), None)


def _new(texts: Texts, earlier: Texts) -> Iterator[str]:
    return (text for text in texts if text and text not in earlier)


#: By the policy of the loop.
NEXT_STEP: dict[str, Callable[[str, Texts], str | None]] = {
    "ras": planned_action,
    "selfask": follow_up_question,
    "self-critique": next_question,
}
