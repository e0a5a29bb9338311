"""RAS's answerer: it learns, is found again, and answers from what any method found."""

from types import SimpleNamespace

import pytest

from kit.corpus import Benchmark, Question, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.loops.agents import SmallAgent
from kit.methods.loops.steps import Hole, Step, Trajectory
from kit.methods.ras.answerer import GraphAnswerer, GraphReader
from kit.methods.ras.graph_data import CLOSED_ANSWERS
from kit.methods.ras.network import AT_ONCE

HAND = example()
TOWN, RIVER = HAND.test
FILM = ("The Glass Harbour (film)", "is a silent film directed by", "Ines Moravec")
PLACE = ("Ines Moravec", "She was born in", "Selby Quay")


@pytest.fixture
def retriever(tiny_model: str, own_store):
    ras = make("ras", encoder=tiny_model, triples="rules", planner="gold", top_k=2)
    ras.index(HAND.corpus)
    return ras


def test_it_learns_where_the_answer_is_and_is_found_again(retriever) -> None:
    lesson = Benchmark("x", HAND.corpus, train=[TOWN, RIVER], dev=[TOWN, RIVER])
    answerer = GraphAnswerer(retriever, hidden=16, layers=2, epochs=30)
    answerer.fit(lesson)
    graphs = retriever.run([TOWN.gold_query, RIVER.gold_query])
    assert answerer.answer(graphs) == ["Selby Quay", "Oll"]
    measured = [step["measured"] for step in answerer.history if "measured" in step]
    assert measured[-1] == max(measured) == 1.0
    assert next(iter(answerer.scores(graphs[1]))) == "Oll"
    again = GraphAnswerer(retriever, hidden=16, layers=2, epochs=30)
    again.fit(lesson)
    assert again.answer(graphs) == ["Selby Quay", "Oll"] and again.history == answerer.history
    assert answerer.answer([Trajectory(TOWN.query)])[0] in CLOSED_ANSWERS  # of an empty graph


def test_what_cannot_be_learned_or_was_not_is_one_plain_line(retriever) -> None:
    unanswered = Question("q", "Who?", "", (("oll",),))
    with pytest.raises(InputError, match="expected training questions with answers"):
        GraphAnswerer(retriever).fit(Benchmark("x", HAND.corpus, train=[unanswered]))
    with pytest.raises(InputError, match="ras-answerer has learned nothing yet"):
        GraphAnswerer(retriever).answer([Trajectory(TOWN.query)])
    with pytest.raises(InputError, match="ras-answerer has learned nothing yet"):
        GraphReader().answer(["Who?"], [[]])


def test_another_learns_from_the_same_graphs_and_many_are_answered_as_one_is(
    retriever, grow
) -> None:
    answerer = GraphAnswerer(retriever, hidden=16, layers=1, epochs=1)
    answerer.fit(Benchmark("x", HAND.corpus, train=[TOWN], dev=[RIVER]))
    again = []
    retriever.run = lambda queries: again.extend(queries) or []
    silent = GraphAnswerer(retriever, answerer.grown, hidden=16, layers=0, epochs=1)
    silent.fit(Benchmark("x", HAND.corpus, train=[RIVER], dev=[TOWN]))
    assert silent.grown is answerer.grown
    assert again == [] and len(silent.grown) == 2 and silent.history != answerer.history
    # An empty one in between, and more than are answered at once.
    graphs = [grow(("1901",)), Trajectory(TOWN.query), *[grow()] * AT_ONCE]
    for graph, answer in zip(graphs[:3], answerer.answer(graphs)):
        assert answer == next(iter(answerer.scores(graph)))


def test_the_reader_answers_from_what_any_method_found(own_store) -> None:
    class Planned(SmallAgent):
        """The steps of a plan, as far as their triples lead."""

        def plan(self, trajectories):
            holes = [Hole(*FILM[:2]), Hole(*PLACE[:2]), None]
            wanted = [holes[len(trajectory.steps)] for trajectory in trajectories]
            return [Step(hole.text, (hole,)) if hole else None for hole in wanted]

    retriever = make("ras", triples="rules")
    retriever.index(HAND.corpus)
    retriever.agent = Planned(retriever.agent.model, HAND.corpus, "rules")

    reader = GraphReader()
    reader.row = {passage.full_text: row for row, passage in enumerate(HAND.corpus.passages)}
    reader.answerer = SimpleNamespace(
        retriever=retriever,
        expect_fit=lambda: None,
        answer=lambda trajectories: [" ".join(grown.last.answers) for grown in trajectories],
    )
    harbour = HAND.corpus["harbour"].full_text
    moravec = HAND.corpus["moravec"].full_text
    assert reader.answer([TOWN.text] * 2, [[moravec, harbour], [harbour]]) == ["Selby Quay", ""]
    with pytest.raises(InputError, match="of the corpus that the reader learned on"):
        reader.answer(["?"], [["Another text."]])
