"""What a graph holds and what is answered from it, of loops that are written down."""

import pytest
from numpy.random import default_rng

from kit.corpus import Query, Question, example
from kit.evaluation.growth import (
    BACKWARD,
    FORWARD,
    N_DRAWS,
    NO_SEARCH,
    SHARES,
    answers_by_share,
    answers_by_step,
    gold_triples_read,
    holds,
    namesakes_of,
    right_actions,
    sub_questions_of,
    thinned,
)
from kit.methods.loops.agents import Agent
from kit.methods.loops.steps import UNREADABLE, Hole, NextSteps, Step, Trajectories, Trajectory
from kit.methods.ras.retriever import RAS

BY = ("The Glass Harbour (film)", "director", "Ines Moravec")
BORN = ("Ines Moravec", "born in", "Selby Quay")
QUESTION = Question("q", "Where was she born?", "Selby Quay", (("moravec",),))


@pytest.fixture
def trajectory() -> Trajectory:
    director = Step("", (Hole("The Glass Harbour", "director"),), (0,), (BY,), ("Ines Moravec",))
    born = Step("", (Hole("Ines Moravec", "born in"),), (), (BORN,), ("Selby Quay",))
    flooded = Step("", (Hole("Selby Quay", "floods", backward=True),), (3,))
    return Trajectory(Query("q", "?"), [director, born, flooded], {BY: 0, BORN: 1})


class LastObject:
    """Answers with the object of the last triple."""

    def answer(self, trajectories: list[Trajectory]) -> list[str]:
        graphs = [list(trajectory.graph) for trajectory in trajectories]
        return [graph[-1][2] if graph else "" for graph in graphs]


def test_sub_questions_by_the_direction_of_their_search(trajectory: Trajectory) -> None:
    table = sub_questions_of([trajectory])
    assert table["kind"].tolist() == [FORWARD, NO_SEARCH, BACKWARD]
    assert table["answered"].tolist() == [1, 1, 0]


def test_namesakes_are_names_of_several_documents(trajectory: Trajectory) -> None:
    [row] = namesakes_of([trajectory], example().corpus).itertuples(index=False)
    assert row.name == "The Glass Harbour"
    assert row.documents == "The Glass Harbour (film), The Glass Harbour (novel)"


def test_a_graph_holds_whole_names() -> None:
    assert holds([BY, BORN], ["selby quay"]) == 1
    assert holds([BY], ["Selby Quay"]) == 0


def test_answers_after_each_step(trajectory: Trajectory) -> None:
    table = answers_by_step(LastObject(), [trajectory], [QUESTION], most=2)
    assert table["steps"].tolist() == [1, 2]
    assert table["em"].tolist() == table["held"].tolist() == [0, 1]


def test_answers_from_a_share_of_the_triples(trajectory: Trajectory) -> None:
    table = answers_by_share(LastObject(), [trajectory], [QUESTION])
    n_draws = table.groupby("triples").size()
    assert n_draws[0] == n_draws[1] == 1 and n_draws[0.5] == N_DRAWS
    assert list(n_draws.index) == list(SHARES)
    assert table["em"].iloc[0] == 0 and table["em"].iloc[-1] == 1


def test_without_triples_nothing_can_be_read_off(trajectory: Trajectory) -> None:
    none = thinned(trajectory, 0, default_rng(0))
    assert not none.graph and not any(step.answers for step in none.steps)
    assert thinned(trajectory, 1, default_rng(0)).steps[1].answers == ("Selby Quay",)


def test_gold_triples_by_pairs_and_with_their_relation() -> None:
    hand = example()
    table = gold_triples_read(hand.corpus, hand.test[:1], ["rules"])
    assert table["pair"].tolist() == [1, 1]  # the names, by other relations than the gold ones
    assert table["triple"].tolist() == [0, 0]


class Hasty(Agent):
    """Asks once, says in the second state what can't be read, and stops in the third."""

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        steps = []
        for trajectory in trajectories:
            n = len(trajectory.steps)
            trajectory.ended = UNREADABLE if n == 1 else ""
            steps.append(Step("Who?") if n == 0 else None)
        return steps


def test_a_planner_beside_a_teacher_who_goes_on_until_all_is_found() -> None:
    """With one passage a search the teacher asks for the question, then for its steps."""
    ras = RAS(planner="gold", triples="rules", top_k=1)
    ras.index(example().corpus)
    ras.agent = Hasty()
    [river] = [question for question in example().test if question.hops == 3][:1]
    actions = right_actions(ras, [river])
    assert actions["n_searches"].tolist() == list(range(len(actions)))
    assert actions["wanted"].tolist() == ["ask"] * (len(actions) - 1) + ["stop"]
    assert actions["said"].tolist()[:3] == ["ask", "neither", "stop"]
    assert actions["action"].tolist() == (actions["said"] == actions["wanted"]).tolist()
