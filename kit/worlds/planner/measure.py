"""How right a planner is, and what an invented world states."""

from collections.abc import Sequence

import pandas as pd

from kit.corpus import PlainTriple, Question
from kit.methods.loops.agents import Agent
from kit.methods.loops.steps import Step, Trajectory
from kit.text.placeholders import key_of
from kit.worlds import atlas
from kit.worlds.planner.pairs import LABELS, gold_plan


def right_steps(planner: Agent, questions: Sequence[Question]) -> pd.DataFrame:
    """A row per step, given a right past.

    Is it right to ask or to stop (``action``), and all that it asks (``step``)?
    """
    trajectories = []
    rows = []
    gold_holes = []
    for question in questions:
        plan = gold_plan(question)
        for n_done, step in enumerate([*plan, None]):
            trajectories.append(Trajectory(question.query, plan[:n_done]))
            rows.append({"question": question.id, "hops": question.hops})
            gold_holes.append(_holes(step))

    steps = planner.plan(trajectories)
    for row, gold, step in zip(rows, gold_holes, steps):
        planned = _holes(step)
        row["action"] = bool(gold) == bool(planned)
        row["step"] = gold == planned
    return pd.DataFrame(rows)


def _holes(step: Step | None) -> set[tuple[str, str, bool]]:
    if step is None:
        return set()
    return {(key_of(hole.entity), hole.relation, hole.backward) for hole in step.holes}


def stated_facts(world: atlas.Atlas) -> dict[str, set[PlainTriple]]:
    """The triples that each passage of an invented world states."""
    stated = {passage.id: set() for passage in world.benchmark.corpus.passages}
    for fact in world.world.facts:
        if fact.passage:
            subject = key_of(atlas.text_of(fact.subject))
            target = key_of(atlas.text_of(fact.object))
            stated[fact.passage].add((subject, LABELS[fact.relation], target))
    return stated
