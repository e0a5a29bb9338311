"""How right a planner is, and what an invented world states."""

from collections.abc import Sequence

import pandas as pd

from kit.corpus import Question
from kit.methods.loops.agents import Agent, Step, Trajectory
from kit.text.placeholders import key_of
from kit.corpus import PlainTriple
from kit.worlds.planner.pairs import LABELS, atlas, gold_plan


def right_steps(planner: Agent, questions: Sequence[Question]) -> pd.DataFrame:
    """A row a step, given a right past: is it right to ask or to stop (``action``), and all that it asks (``step``)?"""
    plans = [(question, gold_plan(question)) for question in questions]
    asked = [(question, plan, n) for question, plan in plans for n in range(len(plan) + 1)]
    made = planner.plan([Trajectory(question.query, plan[:n]) for question, plan, n in asked])
    rows = []
    for (question, plan, n), step in zip(asked, made):
        wanted, made_of = (_holes(of) for of in (plan[n] if n < len(plan) else None, step))
        row = {
            "question": question.id,
            "hops": question.hops,
            "action": bool(wanted) == bool(made_of),
        }
        rows.append(row | {"step": wanted == made_of})
    return pd.DataFrame(rows)


def _holes(step: Step | None) -> set[tuple[str, str, bool]]:
    return {(key_of(it.entity), it.relation, it.backward) for it in step.holes} if step else set()


def stated_facts(world) -> dict[str, set[PlainTriple]]:
    """By passage of an invented world (``Atlas`` of its maker): subject, relation and object of what it states."""
    stated = {passage.id: set() for passage in world.benchmark.corpus.passages}
    for fact in world.world.facts:
        if fact.passage:
            ends = (key_of(atlas.text_of(end)) for end in (fact.subject, fact.object))
            stated[fact.passage].add((next(ends), LABELS[fact.relation], next(ends)))
    return stated
