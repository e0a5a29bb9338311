"""Text into sentences, by a plain rule, no model.

A sentence ends at ``.``, ``!``, ``?`` or ``…`` (with closing quotes and brackets) before white
space and what can begin a sentence, which is no small letter. It does not end after an abbreviation
that a name or number follows, nor after an initial. The marks of Arabic, Urdu and Hindi end it as
these do, those of Chinese and Japanese without white space.
"""

import re

_END = re.compile(
    r"""(?<![.!?…])[.!?…؟۔।]+["'”’)\]]*\s+(?=["'“‘(\[]*(?P<next>[^\W_a-z]))"""
    r"""|[。！？]+[」』”’）]*"""
)
_INITIAL = re.compile(r"(?:^|[\s(.\-])[^\W\d_]\.$")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Rev|Hon|Fr|St|Ste|Mt|Ft|Gen|Col|Maj|Capt|Cpt|Cmdr|Lt|Sgt|Gov|"
    r"Sen|Rep|Pres|Msgr|Messrs|Mme|Mlle|vs|v|cf|ca|c|b|d|r|e\.g|i\.e|viz|al|No|Nos|Vol|vol|pp|p|"
    r"ed|eds|trans|approx|Op|op|Ed|Bros|Jan|Feb|Mar|Apr|Aug|Sept|Sep|Oct|Nov|Dec)\.$"
)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them; none for a blank text."""
    sentences = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if (match["next"] or "").islower():
            continue
        last_word = text[max(start, match.start() - 20) : end].rstrip()
        if _ABBREVIATION.search(last_word) or _INITIAL.search(last_word):
            continue
        sentences.append(text[start:end].strip())
        start = end

    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]
