"""What language models reply, without what they wrap around it, and the labels that it bears.

Asked for ``[SUBQ] Who?`` they write ``**[SUBQ]** Who?``, ``Output: [SUBQ] Who?``, or the same in a
fence, in quotes or behind a thought. Whoever asks reads it by these functions, and counts what says
nothing (:func:`kit.cost.count`).
"""

import json
import re
from collections.abc import Sequence
from string import ascii_uppercase

from kit import cost
from kit.text.language_models.answers import split_thought

#: What stands before a final answer: "So the final answer is: …", "Answer: …".
ANSWER = r"(?:[\w,]+ ){0,3}(?<!intermediate )answer(?: is\b:?|:)"

_MARKS = re.compile(r"```\w*\n?|\*\*|`")
_QUOTED = re.compile(r"""(?s)["“]([^"“”]*)["”]|'([^']*)'""")
_BEGINNING = r"(?:^|(?<=[.:!?])|(?<=,)(?= \w))"  # of a line, a sentence or a clause
_BEFORE_TEXT = " \t\n:–—-"
_LETTER = re.compile(r"\W*(?i:option\s+)?\W*([A-Z])(?:[).:,]|\s*$)")
_BETWEEN = re.compile(r"[\s,]*")  # the items of a JSON list
_LIST_END = re.compile(r"[\s,]*\]")
_VERDICT = re.compile(r"(?<![\d.])[01](?!\.?\d)")


def plain_reply(reply: str) -> str:
    """A reply without thoughts, fences, marks of emphasis, and the quotes around it."""
    answer, _ = split_thought(reply)
    return _unquoted(_MARKS.sub("", answer))


def _unquoted(text: str) -> str:
    stripped = text.strip()
    quoted = _QUOTED.fullmatch(stripped)
    return (quoted[1] or quoted[2] or "").strip() if quoted else stripped


def labelled(reply: str, labels: str) -> list[tuple[str, str]]:
    """The labels of a reply, each with the line that it begins, or the next where that is empty.

    ``labels`` is a regular expression. A label stands where a line, a sentence or a clause begins,
    or behind a colon (``Output: [SUBQ]``); elsewhere it is only spoken of.
    """
    _, *parts = re.split(rf"(?im){_BEGINNING}\W*?({labels})", plain_reply(reply))
    pairs = []
    for label, text in zip(parts[::2], parts[1::2]):
        line = text.lstrip(_BEFORE_TEXT).partition("\n")[0]
        pairs.append((label, _unquoted(line)))
    return pairs


def listed_in(reply: str, key: str) -> list[object] | None:
    """The JSON list that a reply has under a key, or is; None where it has none.

    Of a list that is cut or breaks off the whole items are kept, with a None for the rest.
    """
    text = plain_reply(reply)
    start = re.search(rf'"{key}"\s*:\s*\[', text) or re.match(r"[^{[]*\[", text)
    if not start:
        return None
    decoder = json.JSONDecoder(strict=False)  # line ends within texts are read
    items = []
    position = start.end()
    while not _LIST_END.match(text, position):
        try:
            item, position = decoder.raw_decode(text, _BETWEEN.match(text, position).end())
        except (ValueError, RecursionError):
            return [*items, None]
        items.append(item)
    return items


def final_answer(reply: str) -> str:
    """The last answer that is called one; empty where none is."""
    answers = labelled(reply, ANSWER)
    return answers[-1][1] if answers else ""


def whole_answer(reply: str) -> str:
    """The answer in a reply that is to be nothing else."""
    return final_answer(reply) or plain_reply(reply)


def chosen_option(answer: str, options: Sequence[str]) -> str:
    """The option whose letter, A for the first, an answer begins with; empty where none is."""
    letter = _LETTER.match(answer)
    index = ascii_uppercase.index(letter[1]) if letter else len(options)
    return options[index] if index < len(options) else ""


def counted(texts: list[str]) -> list[str]:
    """What was read of the replies of a model; the empty texts are counted as not understood."""
    cost.count(unread=texts.count(""))
    return texts


def grade(reply: str) -> bool | None:
    """What a judge says who was asked for 1 or 0: right, wrong, or (None) neither.

    Behind "Return:" or "Grade:" it counts first, then in the first line, then anywhere.
    """
    texts = [text for _, text in labelled(reply, "(?:return|grade):")]
    plain = plain_reply(reply)
    for text in [*texts, plain.partition("\n")[0], plain]:
        verdicts = set(_VERDICT.findall(text))
        if len(verdicts) == 1:
            return verdicts == {"1"}
    return None
