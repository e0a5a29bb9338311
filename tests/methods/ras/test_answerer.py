"""The graph network that answers: what it sees, by hand; messages; that it learns; and GRetriever with a tiny model."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.llm.models import LLM, GRetriever

from kit.corpus import Benchmark, Question, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.loops.agents import Hole, SmallAgent, Step, Trajectory
from kit.methods.ras.answerer import (
    AT_ONCE,
    CLOSED,
    GraphAnswerer,
    GraphEncoder,
    GraphReader,
    loss_of,
    marks,
    to_data,
    value_of,
)
from kit.text.placeholders import Mention

HAND = example()
TOWN, RIVER = HAND.test
FILM = ("The Glass Harbour (film)", "is a silent film directed by", "Ines Moravec")
PLACE = ("Ines Moravec", "She was born in", "Selby Quay")


def test_values_of_dates_and_numbers() -> None:
    assert [value_of(text) for text in ("1,200", "1950", "seven", "Oll", "twelve")] == [
        1200,
        1950,
        7,
        None,
        None,
    ]
    days = [value_of(text) for text in ("1 January 1901", "31 December 1901", "March 1901")]
    assert days == pytest.approx([1901 + 1 / 367, 1901 + 365 / 367, 1901 + 60 / 367])


def grown(*answers: tuple[str, ...]) -> Trajectory:
    steps = [Step(f"s{n}", (Hole("Ada", "born"),), answers=each) for n, each in enumerate(answers)]
    graph = {("Ada", "born", "1901"): 0, ("Bo", "born", "1905"): 1, ("Bo", "of", "Orm"): 1}
    return Trajectory(TOWN.query, steps, graph)


def test_marks_of_nodes_by_hand() -> None:
    nodes = ["ada", "1901", "bo", "1905", "orm"]
    found = marks(grown(("1901",), ("1905",)), nodes, [Mention(0, 3, "Ada"), Mention(5, 9, "1903")])
    third = 1 / 3
    assert found == pytest.approx(
        np.array(
            [
                [1, 0, 0, 0, 1, 0, 0, 0, 0, 0],
                [0, 1, 0, third, 0, 1, -1, 1, -1, 1],  # the least of both, below 1903
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                [0, 1, 1, third, 0, 1, 1, -1, 1, 1],
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ]
        )
    )
    assert marks(Trajectory(TOWN.query), [], []).shape == (0, 10)


def test_a_graph_for_pyg_has_each_triple_both_ways() -> None:
    vectors = {
        part: np.full(32, n, np.float32)
        for n, part in enumerate(("Ada", "born", "1901", "Bo", "1905", "of", "Orm"))
    }
    question = np.ones(32, np.float32)
    data = to_data(grown(("1901",)), question, vectors, answers=["orm", "yes"])
    assert data.names == ["Ada", "1901", "Bo", "1905", "Orm"] and data.x.shape == (5, 32)
    assert data.edge_index.T.tolist() == [[0, 1], [2, 3], [2, 4], [1, 0], [3, 2], [4, 2]]
    assert data.edge_attr.shape == (6, 33) and data.edge_attr[:, -1].tolist() == [1, 1, 1, 0, 0, 0]
    assert data.right.tolist() == [False] * 4 + [True] and data.right_closed[
        0
    ].nonzero().ravel().tolist() == [0]
    assert (
        data.x[:, 0].tolist() == [0, 2, 3, 4, 6] and data.edge_attr[:, 0].tolist() == [1, 1, 5] * 2
    )
    assert data.question.tolist() == [question.tolist()]
    empty = to_data(Trajectory(TOWN.query), question, {})
    assert (empty.num_nodes, empty.edge_index.shape, empty.edge_attr.shape) == (0, (2, 0), (0, 33))


def test_a_layer_passes_messages_along_edges_alone() -> None:
    """One layer, one neighbour: what reaches a node is its value and the edge's, as attention over one is 1."""
    torch.manual_seed(0)
    encoder = GraphEncoder(3, 2, 4, layers=1, heads=1)
    conv, x, edge = encoder.convs[0], torch.randn(3, 3), torch.randn(1, 2)
    h = encoder.enter(x)
    normed = encoder.norms[0](h)
    sent = conv.lin_value(normed[0]) + conv.lin_edge(edge[0])
    expected = torch.stack(
        [h[n] + (conv.lin_skip(normed[n]) + (sent if n == 1 else 0)).relu() for n in range(3)]
    )
    assert torch.allclose(encoder(x, torch.tensor([[0], [1]]), edge), expected, atol=1e-6)
    silent = GraphEncoder(3, 2, 4, layers=0)
    assert torch.equal(silent(x, torch.tensor([[0], [1]]), edge), silent.enter(x))


def test_the_loss_is_that_of_all_right_answers_together() -> None:
    nodes, closed = torch.tensor([1.0, 2.0, 0.5]), torch.zeros(2, len(CLOSED))
    right_closed = torch.zeros(2, len(CLOSED), dtype=torch.bool)
    right_closed[1, 0] = True
    data = Batch(
        batch=torch.tensor([0, 0, 1]),
        right=torch.tensor([True, False, False]),
        right_closed=right_closed,
    )
    e = np.exp
    one = -np.log(e(1) / (e(1) + e(2) + len(CLOSED)))
    other = -np.log(1 / (e(0.5) + len(CLOSED)))
    assert loss_of(nodes, closed, data).item() == pytest.approx((one + other) / 2, rel=1e-5)
    data.right_closed = torch.zeros_like(right_closed)
    assert loss_of(nodes, closed, data).item() == pytest.approx(
        one, rel=1e-5
    )  # what has no answer teaches nothing


@pytest.fixture
def retriever(tiny_model: str, own_store):
    made = make("ras", encoder=tiny_model, triples="rules", planner="gold", top_k=2)
    made.index(HAND.corpus)
    return made


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
    assert answerer.answer([Trajectory(TOWN.query)])[0] in CLOSED  # of an empty graph
    with pytest.raises(InputError, match="expected training questions with answers"):
        GraphAnswerer(retriever).fit(
            Benchmark("x", HAND.corpus, train=[Question("q", "Who?", "", (("oll",),))])
        )


def test_another_learns_from_the_same_graphs_and_many_are_answered_as_one_is(retriever) -> None:
    answerer = GraphAnswerer(retriever, hidden=16, layers=1, epochs=1)
    answerer.fit(Benchmark("x", HAND.corpus, train=[TOWN], dev=[RIVER]))
    again = []
    retriever.run = lambda queries: again.extend(queries) or []
    silent = GraphAnswerer(retriever, answerer.known, hidden=16, layers=0, epochs=1)
    silent.fit(Benchmark("x", HAND.corpus, train=[RIVER], dev=[TOWN]))
    assert again == [] and len(silent.known) == 2 and silent.history != answerer.history
    graphs = [grown(("1901",)), Trajectory(TOWN.query), *[grown()] * AT_ONCE]
    for of in graphs[:3]:  # an empty one in between, and more than are answered at once
        assert answerer.answer(graphs)[graphs.index(of)] == next(iter(answerer.scores(of)))


def test_the_graph_is_a_token_of_a_causal_model(chat_model: Path) -> None:
    vectors = dict.fromkeys(
        ("Ada", "born", "1901", "Bo", "1905", "of", "Orm"), np.ones(32, np.float32)
    )
    language_model = LLM(str(chat_model), num_params=1, dtype=torch.float32)
    model = GRetriever(language_model, GraphEncoder(32, 33, 16, layers=1))
    batch = Batch.from_data_list(
        [to_data(grown(("1901",)), vectors["of"], vectors)] * 2, exclude_keys=["names"]
    )
    prompts = [f"Who?\n(S> Ada| P> born| O> 1901)\n\nQuestion: {TOWN.text}"] * 2
    given = prompts, batch.x, batch.edge_index, batch.batch
    loss = model(*given, ["Selby Quay", "Oll"], batch.edge_attr)
    loss.backward()
    assert loss.isfinite() and model.gnn.convs[0].lin_value.weight.grad.abs().sum() > 0
    assert len(model.inference(*given, batch.edge_attr, max_out_tokens=3)) == 2


def test_the_reader_answers_from_what_any_method_found(own_store) -> None:
    class Planned(SmallAgent):
        """The steps of a plan, as far as their triples lead."""

        def plan(self, going):
            holes = [Hole(*FILM[:2]), Hole(*PLACE[:2])]
            return [
                Step(holes[n].text, (holes[n],)) if (n := len(of.steps)) < 2 else None
                for of in going
            ]

    reader = GraphReader()
    reader.retriever = make("ras", triples="rules")
    reader.retriever.index(HAND.corpus)
    reader.retriever.agent.__class__ = Planned
    reader.row = {passage.full_text: row for row, passage in enumerate(HAND.corpus.passages)}
    reader.answerer = SimpleNamespace(
        answer=lambda found: [" ".join(of.steps[-1].answers) for of in found]
    )
    harbour, moravec = (HAND.corpus[id].full_text for id in ("harbour", "moravec"))
    assert reader.answer([TOWN.text] * 2, [[moravec, harbour], [harbour]]) == ["Selby Quay", ""]
    with pytest.raises(InputError, match="of the corpus that the reader learned on"):
        reader.answer(["?"], [["Another text."]])
