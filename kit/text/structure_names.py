"""The pages and tables that a question names: "page 1 and page 2", "the last page", "Tables 2–4", "the table on p. 3".

kgp.txt §4 has a language model extract the names of structures; here patterns do (kgp-i34 of the claims), which need no
model and can be read. "Page One" as the title of a song, a water table and table tennis are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kit.corpus.pdf import arabic

_CARDINALS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split()
_PLACES = {word: place for place, word in enumerate(_ORDINALS, 1)}
_PLACES |= {"last": -1, "final": -1, "closing": -1, "opening": 1, "initial": 1, "penultimate": -2}
_PLACES |= {
    f"{word}{joint}last": -place for word, place in list(_PLACES.items())[1:5] for joint in (" ", "-", "-to-", " to ")
}
_PLACES |= {"next-to-last": -2, "last but one": -2}

_KIND = r"(?P<kind>[Pp]ages?|[Pp]gs?\b\.?|[Pp]{1,2}\.|pp\b|p(?=[1-9])|[Tt]ables?|[Tt]abs?\.|PAGES?|TABLES?)"
_NUMBER = rf"(?:[A-Z]\.?\d+|\d+(?:\.\d+)*|[IVXL]+(?![\w'’])|(?i:{'|'.join(_CARDINALS)})(?!\w))"
_THEN = r"\s*(?:,|;|&|/|[–—-]|,?\s*\b(?:and|or|to|through|until|till|versus|vs\.?)\b)\s*(?:and\s+)?"
_NUMBERED = re.compile(
    rf"(?<![\w.-]){_KIND}\s*(?:(?:[Nn]o\.?|[Nn]umbers?|[Nn]r\.?|#)\s*)?(?P<numbers>{_NUMBER}(?:{_THEN}{_NUMBER}(?![\w%]))*)(?!\w)"
)
_PLACE = rf"(?:{'|'.join(sorted(_PLACES, key=len, reverse=True))}|\d+(?:st|nd|rd|th))"
_PLACED = re.compile(
    rf"\b(?P<before>(?:an?|another)\s+)?(?P<places>{_PLACE}(?:\s*(?:,|and|or|to|with|from)\s+(?:the\s+)?(?:very\s+)?{_PLACE})*)"
    rf"\s+(?:(?P<count>{'|'.join(_CARDINALS)}|\d+)\s+)?(?P<kind>pages?|tables?)(?P<but> but one)?\b",
    re.IGNORECASE,
)
_ALSO = re.compile(
    rf"\b(?:from|and|with|to|or|than|against)\s+the\s+(?:very\s+)?(?P<place>{_PLACE})(?=\s+one\b|\s*[?.,;:]|\s*$|\s+(?:of|in)\b)",
    re.IGNORECASE,
)
_BEFORE_LAST = re.compile(r"\bpage before (?:the )?last\b", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:(?:all|every|each|both)(?:\s+of)?(?:\s+(?:the|its|their))?(?:\s+(?:two|three|four|five|\d+))?\s+(?P<kind>pages?|tables?)"
    r"|(?:the|its)\s+(?:(?:two|three|four|five|\d+)\s+)?(?P<plural>tables))\b(?!\s*\d)",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"\b(?:in|from|to|by|on|see|per|of|consult|using)\s+(?:the|its|that|this)\s+(?:only\s+|single\s+)?(?P<kind>table)\b(?!\s*\d)",
    re.IGNORECASE,
)

_NEAR = 80  # characters around a name that are looked at
_QUOTED = re.compile(r"[\"“«][^\"”»]*[\"”»]|'[^']*'(?!\w)")
_WORK = (
    "film|movie|song|single|album|track|novel|book|magazine|newspaper|band|group|play|game|episode|show|series|story|poem|"
    "painting|programme|program|called|titled|entitled|named"
)
_OF_A_WORK = re.compile(rf"\b(?:{_WORK})\s+(?:the\s+)?$", re.IGNORECASE)
_IS_A_WORK = re.compile(rf"\s*\((?:[\w\s]*\s)?(?:{_WORK})\)", re.IGNORECASE)
_OTHER_TABLE = re.compile(
    r"\b(?:water|periodic|league|round|dining|kitchen|pool|billiards?|snooker|operating|coffee|bedside|oak|wooden|card|"
    r"high|picnic|dressing|time|negotiating|conference|communion)[\s-]$",
    re.IGNORECASE,
)
_OTHER_THING = re.compile(
    r"[\s-]+(?:tennis|tops?|cloths?|salt|manners|wine|lamps?|mountain|talk|football|saw|boys?|turners?|views?|proofs?|"
    r"rank|counts?|girls?|of\s+(?:an?|his|her|their|my|the)\s+(?:\w+\s+)?(?:book|novel|newspaper|diary|letter|magazine|bible|"
    r"manuscript|script|comic|notebook|journal|gazette|ledger|log|life|history))\b",
    re.IGNORECASE,
)
_LEADS_TO_P = re.compile(r"(?:^|[,(;:–-]|\b(?:on|see|at|of|from|and|to|with))\s*$", re.IGNORECASE)  # "p53" is a protein
_UNIT = re.compile(
    r"\s*(?:[ck]?m|met(?:re|er)s?|feet|foot|inch(?:es)?|miles?|years?|months?|weeks?|days?|hours?|minutes?)\b"
)
_DIFFERENCE = re.compile(r"\b(?:chang|differ|compar|contrast|versus|vs\b)", re.IGNORECASE)
_TABLE_ON = re.compile(
    r"\btables?\s+(?:(?:that\s+is\s+)?(?:found|shown|printed|given|placed|standing|that\s+stands)\s+)?"
    r"(?:on|at|of|from|in)\s+(?:the\s+)?(?:very\s+)?$",
    re.IGNORECASE,
)
_HAS_TABLE = re.compile(
    r"(?:['’]s)?\s+table\b(?!\s*\d)|[^.?!;]{0,80}?\b(?:has|contains|shows|holds|carries)\s+(?:an?|one|the)\s+table\b",
    re.IGNORECASE,
)
_AND_ONE_ON = re.compile(
    r"\W*(?:and|with|to|or|from|than)\s+(?:the|that)\s*(?:one\s*)?(?:on|at|from|of|in)\s+(?:the\s+)?", re.IGNORECASE
)


@dataclass(frozen=True)
class Named:
    """Pages or tables that a text names at ``start`` to ``end``.

    ``labels`` are numbers as the document has them (text) or places in it (whole numbers, 1 the first and -1 the last);
    none: all of them. ``on_page``: tables on these pages. ``only``: no number, "the table", which names one only where
    there is no other.
    """

    kind: str
    labels: tuple[str | int, ...]
    start: int
    end: int
    on_page: tuple[str | int, ...] = ()
    only: bool = False


def named_structures(text: str) -> list[Named]:
    """What a text names, from left to right; empty for a text about content."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    found: list[Named] = []
    for one in [*_numbered(text), *_placed(text), *_every(text)]:
        inside = any(start < one.start and one.end <= end for start, end in quoted)
        overlaps = any(one.start < other.end and other.start < one.end for other in found)
        if not inside and not overlaps and not _is_other(text, one):
            found.append(one)
    return _on_pages(text, _ranges(text, sorted(found, key=lambda one: one.start)))


def _numbered(text: str) -> Iterator[Named]:
    for match in _NUMBERED.finditer(text):
        word, numbers = match["kind"], match["numbers"]
        parts = re.split(f"({_THEN})", numbers)
        plural = word.rstrip(".").lower() in {"pages", "pp", "pgs", "tables", "tabs"}
        end = match.start("numbers") + len(parts[0])
        labels = [label_as_written(parts[0])]
        for separator, number in zip(parts[1::2], parts[2::2]):
            if not plural and separator.strip() in {",", ";", "/"}:  # "In Table 2, 3 stations ..."
                break
            here = label_as_written(number)
            if re.search(r"[–—-]|\b(?:to|through|until|till)\b", separator) and labels[-1].isdigit() and here.isdigit():
                labels += [str(n) for n in range(int(labels[-1]) + 1, min(int(here), int(labels[-1]) + 999) + 1)]
            else:
                labels.append(here)
            end += len(separator) + len(number)
        title = word.istitle() and parts[0].istitle() and parts[0].isalpha() and not text.isupper()
        if title and parts[0].lower() in _CARDINALS and match.start():  # "Page One" is the title of something
            continue
        if word != "p" or _LEADS_TO_P.search(_before(text, match.start())):
            yield Named(_kind(word), tuple(dict.fromkeys(labels)), match.start(), end)


def _placed(text: str) -> Iterator[Named]:
    for match in _PLACED.finditer(text):
        if match["before"]:
            continue
        places = [_place(word) for word in re.findall(_PLACE, match["places"], re.IGNORECASE)]
        count = match["count"] and (int(match["count"]) if match["count"].isdigit() else _cardinal(match["count"]))
        if count and abs(places[0]) == 1:
            steps = range(1, count + 1) if places[0] > 0 else range(-count, 0)
            places = list(steps)
        if match["but"]:
            places = [-2]
        yield Named(_kind(match["kind"]), tuple(places), match.start("places"), match.end())
        if also := _ALSO.search(text, match.end()):
            yield Named(_kind(match["kind"]), (_place(also["place"]),), also.start("place"), also.end("place"))
    for match in _BEFORE_LAST.finditer(text):
        yield Named("page", (-2,), match.start(), match.end())


def _every(text: str) -> Iterator[Named]:
    for match in _EVERY.finditer(text):
        yield Named(_kind(match["kind"] or match["plural"]), (), match.start(), match.end())
    for match in _ONLY.finditer(text):
        yield Named("table", (), match.start("kind"), match.end("kind"), only=True)


def _is_other(text: str, one: Named) -> bool:
    """Whether the words are a title, a piece of furniture, or a part of some other book."""
    before, after = _before(text, one.start), text[one.end : one.end + _NEAR]
    if _OF_A_WORK.search(before) or _IS_A_WORK.match(after) or _OTHER_THING.match(after):
        return True
    return one.kind == "table" and bool(_OTHER_TABLE.search(before) or _UNIT.match(after))


def _ranges(text: str, found: list[Named]) -> list[Named]:
    """ "page 2 to page 4" is a range where no difference is asked for; both ends are numbers."""
    joined: list[Named] = []
    for one in found:
        last = joined[-1] if joined else None
        between = text[last.end : one.start].strip().lower() if last else ""
        ends = (*last.labels[-1:], *one.labels[:1]) if last and last.kind == one.kind else ()
        is_range = between in {"to", "through", "until", "–", "-"} and not _DIFFERENCE.search(text)
        if is_range and len(ends) == 2 and all(isinstance(end, str) and end.isdigit() for end in ends):
            steps = tuple(str(n) for n in range(int(ends[0]), min(int(ends[1]), int(ends[0]) + 999) + 1))
            joined[-1] = replace(last, labels=(*last.labels[:-1], *steps), end=one.end)
        else:
            joined.append(one)
    return joined


def _on_pages(text: str, found: list[Named]) -> list[Named]:
    """Pages that only say where a table is: "the table on page 4", "page 4's table", "Table 1 on page 4"."""
    result: list[Named] = []
    for one in found:
        before = result[-1] if result else None
        gap = text[before.end : one.start] if before else ""
        on_it = re.fullmatch(r"\s+(?:on|at|from|in)\s+(?:the\s+)?", gap, re.IGNORECASE)
        if one.kind == "page" and before and before.kind == "table" and on_it:
            result[-1] = replace(before, on_page=one.labels, end=one.end, only=False)
        elif one.kind == "page" and (match := _TABLE_ON.search(_before(text, one.start))):
            start = one.start - len(match[0])
            result.append(Named("table", (), start, one.end, on_page=one.labels))
        elif one.kind == "page" and (
            _HAS_TABLE.match(text, one.end) or (before and before.on_page and _AND_ONE_ON.fullmatch(gap))
        ):
            result.append(Named("table", (), one.start, one.end, on_page=one.labels))
        elif one.only and before and before.on_page:
            continue  # "page 4 has a table; by the table, ..."
        else:
            result.append(one)
    return result


def _before(text: str, place: int) -> str:
    """The characters before a place that can say what stands there."""
    return text[max(0, place - _NEAR) : place]


def label_as_written(number: str) -> str:
    """A number in a question as documents label: "two" and "II" are "2", "a.1" is "A1"."""
    if number.lower() in _CARDINALS:
        return str(_cardinal(number))
    return arabic(number)


def _cardinal(word: str) -> int:
    return _CARDINALS.index(word.lower()) + 1


def _place(word: str) -> int:
    return _PLACES.get(word.lower()) or int(re.match(r"\d+", word)[0])


def _kind(word: str) -> str:
    return "table" if word.lower().startswith("t") else "page"
