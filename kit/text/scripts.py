"""What the scripts of the world do differently: capitals, spaces between words, punctuation."""

import re
import unicodedata

#: All capital letters, for a class of a regular expression.
CAPITALS = "".join(letter for letter in map(chr, range(0x10000)) if letter.isupper())
#: Marks that stand between words or clauses in scripts other than Latin, for such a class too.
PUNCTUATION = "«»„「」『』《》〈〉【】（）、。，；：！？·،؛؟۔।॥"

_HAN = "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff"
#: Chinese, Hiragana, Thai, Lao, Burmese and Khmer have no spaces between words. (Katakana neither,
#: but a word of it ends where Katakana does.)
_UNSPACED = re.compile(f"[{_HAN}\u3040-\u309f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")  # endings follow a name without a space
_EASTERN = re.compile(f"[{_HAN}\u3040-\u30ff\uac00-\ud7af]")


def shortest_name(text: str) -> int:
    """How many characters a name in the text's script has at least."""
    return 2 if _EASTERN.match(text) else 3


def has_no_case(letter: str) -> bool:
    """Whether a letter is of a script without capitals; Georgian has some, but names have none."""
    return unicodedata.category(letter) == "Lo" or "ა" <= letter <= "ჿ"


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether no word goes on across either end of a part of a text."""
    if start and _goes_on(text[start - 1], text[start]):
        return False
    if end == len(text) or _HANGUL.match(text[end - 1]):
        return True
    return not _goes_on(text[end], text[end - 1])


def _goes_on(neighbour: str, edge: str) -> bool:
    """Whether a word that has ``edge`` at its end has ``neighbour``, too."""
    if _UNSPACED.match(neighbour) or _UNSPACED.match(edge):
        return False
    return neighbour.isalnum() or _is_vowel(neighbour)


def _is_vowel(mark: str) -> bool:
    """Whether a combining mark is a letter by itself, as the vowels of Indian scripts are.

    Accents, of stress for instance, are not: their class is above those of vowels.
    """
    return unicodedata.category(mark)[0] == "M" and unicodedata.combining(mark) < 10
