"""Lines of a PDF to paragraphs."""

import re
from collections.abc import Iterable

from kit.corpus.pdf.layout import Block, Blocks
from kit.corpus.structures import label_of

#: A bullet, "2." or "(a)" and a space.
_BEGINS_ITEM = re.compile(r"[•▪◦‣–-] |\(?(?:\d{1,2}|[a-z])[.)] ")
_ENDS_SENTENCE = re.compile(r"[.!?:;…]\W*$")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]\n(?=([^\W\d_A-Z]+))")
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]+")
LINE_DISTANCE = 1.6  # of lines of a paragraph, at most, in sizes of a letter


def compounds_of(lines: Iterable[Block]) -> set[str]:
    """The words with a hyphen within a line."""
    text = " ".join(line.text for line in lines)
    return set(_COMPOUND.findall(text.lower()))


def paragraphs_of(
    blocks: Blocks,
    compounds: set[str],
) -> Blocks:
    """Lines in reading order to paragraphs; tables stay.

    A hyphen at a line's end goes, unless the word is one of the ``compounds``.
    """

    def mend(broken: re.Match[str]) -> str:
        first, second = broken.groups()
        if second[0].isupper():  # another word
            return broken[0]
        is_compound = f"{first}-{second}".lower() in compounds
        return f"{first}-" if is_compound else first

    paragraphs = blocks[:1]
    for line in blocks[1:]:
        last = paragraphs[-1]
        if _goes_on(last, line):
            last.text += f"\n{line.text}"
            last.box = line.box
        else:
            paragraphs.append(line)

    for paragraph in paragraphs:
        mended = _BROKEN_WORD.sub(mend, paragraph.text)
        paragraph.text = mended.replace("\n", " ")
    return paragraphs


def _goes_on(last: Block, line: Block) -> bool:
    """Whether the line belongs to the paragraph that was last."""
    if not line.size or (line.size, line.bold) != (last.size, last.bold):
        return False
    if line.text[:1].islower() and not _ENDS_SENTENCE.search(last.text):
        return True  # the sentence may have begun in the column before

    if _BEGINS_ITEM.match(line.text) or label_of(line.text):
        return False
    return 0 < line.box[3] - last.box[3] <= LINE_DISTANCE * line.size
