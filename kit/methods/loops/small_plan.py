"""What the kit's small planner, ``data/planner``, reads and writes.

It reads numbers in the place of names, and writes holes (:mod:`kit.methods.loops.steps`).
"""

import re
from collections.abc import Sequence

from kit.methods.loops.steps import Hole, Step
from kit.text.placeholders import EntityLinker, Placeholders

PLANNER = "data/planner"  # where the committed small model lies in the project
LONGEST_PLAN = 128  # tokens of what a model writes at once
SMALL_SUBQ = "subq"  # its words for "[SUBQ]" …
SMALL_SUFFICIENT = "sufficient"  # … and "[SUFFICIENT]", a token each

_HOLE = re.compile(r"(?s)(?P<placeholder>[^ ]*) (?P<direction>[<>]) (?P<relation>.+)")


def small_prompt(question: str, linker: EntityLinker) -> tuple[str, Placeholders]:
    """``plan : who teaches at the employer of <n0> ?``, and what the placeholders stand for."""
    names = Placeholders()
    hidden = names.hide(question, linker.mentions(question, numbers=True))
    return f"plan : {hidden}", names


def begun_plan(steps: Sequence[Step], names: Placeholders) -> str:
    """Steps with answers, from which the planner goes on: ``subq <n0> > employer = <n1> ;``."""
    parts = []
    for step in steps:
        holes = " & ".join([_written(hole, names) for hole in step.holes])
        answers = " ".join(map(names.placeholder, step.answers)) or "nothing"
        parts.append(f"{SMALL_SUBQ} {holes} = {answers} ;")
    return " ".join(parts)


def _written(hole: Hole, names: Placeholders) -> str:
    direction = "<" if hole.backward else ">"
    return f"{names.placeholder(hole.entity)} {direction} {hole.relation}"


def read_plan(reply: str, names: Placeholders) -> Step | None:
    """The first step that the planner wrote; None where it is not about names of its prompt."""
    holes = []
    first_step = reply.partition(" = ")[0].removeprefix(SMALL_SUBQ)
    for part in first_step.split(" & "):
        match = _HOLE.fullmatch(part.strip())
        entity = match and names.entity(match["placeholder"])
        if entity is None:
            return None
        hole = Hole(
            entity,
            match["relation"],
            match["direction"] == "<",
        )
        holes.append(hole)
    return Step("; ".join(hole.text for hole in holes), tuple(holes))
