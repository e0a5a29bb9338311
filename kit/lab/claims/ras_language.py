"""RAS's Table 2 with a language model that plans and answers: what each part is worth."""

from collections.abc import Mapping

from pandas import DataFrame, concat

from kit.corpus import Benchmark
from kit.corpus.types import Queries, Questions
from kit.methods.loops.agents import Agent
from kit.methods.loops.steps import NO_RETRIEVAL, NextSteps, Trajectories, Trajectory
from kit.methods.ras.graph_llm import GraphLLM
from kit.methods.ras.retriever import RAS
from kit.readers.scoring import exact_match, f1

WHOLE = "GraphLLM"
SEPARATE = "a model for each role"
NO_TOKEN = "trained without the graph's token"


class Roles(Agent):
    """One agent that plans and another that answers."""

    def __init__(self, planner: Agent, answerer: Agent) -> None:
        self.planner = planner
        self.answerer = answerer

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        return self.planner.plan(trajectories, policy)

    def conclude(self, trajectories: Trajectories) -> None:
        self.answerer.conclude(trajectories)


def answered_by_variants(
    ras: RAS, training: Benchmark, queries: Queries, **settings: object
) -> dict[str, list[Trajectory]]:
    """What GraphLLM makes of some questions, whole and without each of its parts (Table 2).

    Each variant learns anew from the same training questions; without retrieval and without
    planning, and where it is only *asked* without the token, it is the whole one.
    """

    def learned(**parts: object) -> GraphLLM:
        taught_by = ras.variant(corpus=training.corpus)
        graph_llm = GraphLLM(taught_by, **settings, **parts)
        graph_llm.fit(training)
        graph_llm.retriever = ras
        return graph_llm

    whole = learned()
    agents = {
        WHOLE: whole.agent(),
        NO_TOKEN: learned(graph_token=False).agent(),
        "without LoRA": learned(lora=False).agent(),
        SEPARATE: Roles(learned(roles="planner").agent(), learned(roles="answerer").agent()),
        "asked without the graph's token": whole.agent(graph_token=False),
    }
    answered = {name: _run(ras.variant(), agent, queries) for name, agent in agents.items()}
    answered["without planning"] = _run(ras.variant(rounds=1), whole.agent(), queries)
    unasked = [Trajectory(query, ended=NO_RETRIEVAL) for query in queries]
    whole.agent().conclude(unasked)
    return answered | {"without retrieval": unasked}


def _run(loop: RAS, agent: Agent, queries: Queries) -> list[Trajectory]:
    loop.agent = agent
    trajectories = loop.run(queries)
    agent.conclude(trajectories)
    return trajectories


def answers_of_variants(
    answered: Mapping[str, Trajectories],
    questions: Questions,
) -> DataFrame:
    """A row per variant and question: retriever, question, em, f1, and how many searches."""
    tables = []
    for name, trajectories in answered.items():
        rows = DataFrame({"question": [question.id for question in questions]})
        said = [trajectory.answer for trajectory in trajectories]
        right = [question.answers for question in questions]
        rows["em"] = list(map(exact_match, said, right))
        rows["f1"] = list(map(f1, said, right))
        rows["searches"] = [trajectory.n_retrievals for trajectory in trajectories]
        tables.append(rows.assign(retriever=name))
    return concat(tables, ignore_index=True)
