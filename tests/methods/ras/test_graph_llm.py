"""GraphLLM with a tiny model: the token by hand, that it learns, what Table 2 takes away."""

from pathlib import Path

import pytest
import torch

from kit.corpus import Benchmark, Corpus, Passage, Question, SubQuestion
from kit.errors import InputError
from kit.methods.loops.steps import SUFFICIENT, Trajectory
from kit.methods.ras.graph_llm import GRAPH, GraphLLM
from kit.methods.ras.retriever import RAS

PASSAGES = [
    Passage("film", "The Glass Harbour (film)", "Ines Moravec directed The Glass Harbour.", "film"),
    Passage("woman", "Ines Moravec", "She was born in Selby Quay.", "woman"),
    *(Passage(f"other {n}", f"Harbour {n}", f"A harbour with {n} quays.", "o") for n in range(3)),
]
STEPS = (
    SubQuestion("Who directed The Glass Harbour?", "Ines Moravec", 0),
    SubQuestion("Where was #1 born?", "Selby Quay", 1, (0,)),
)
QUESTION = Question(
    "q",
    "Where was the director of The Glass Harbour born?",
    "Selby Quay",
    (("film",), ("woman",)),
    decomposition=STEPS,
)
BENCHMARK = Benchmark("example", Corpus(PASSAGES), train=[QUESTION])


@pytest.fixture(scope="module")
def ras() -> RAS:
    ras = RAS(planner="gold", triples="rules", top_k=1)
    ras.index(BENCHMARK.corpus)
    return ras


@pytest.fixture
def untrained(ras: RAS, chat_model: Path) -> GraphLLM:
    llm = GraphLLM(ras, base=str(chat_model), hidden=16, layers=1)
    llm.network = llm._untrained()
    return llm


def test_the_token_is_the_mean_of_the_sub_questions_graphs(untrained: GraphLLM) -> None:
    network = untrained.network
    read = untrained._read(untrained.lessons([QUESTION]), graph_token=True)
    first, *_, answer = read
    assert not first.graphs and len(answer.graphs) == 2  # nothing was found yet; two searches

    means = []
    for graph in answer.graphs:
        means.append(network.encoder(graph.x, graph.edge_index, graph.edge_attr).mean(0))
    expected = network.projector(torch.stack([torch.zeros(16), sum(means) / 2]))
    tokens = network.graph_tokens([first.graphs, answer.graphs])
    assert torch.allclose(tokens, expected, atol=1e-5)


def test_the_token_stands_before_the_prompt(untrained: GraphLLM) -> None:
    [first, *_] = untrained._read(untrained.lessons([QUESTION]), graph_token=True)
    [without, *_] = untrained._read(untrained.lessons([QUESTION]), graph_token=False)
    position = first.tokens.index(GRAPH)
    assert first.tokens[:position] + first.tokens[position + 1 :] == without.tokens

    vectors = untrained.network.embedded(torch.tensor([first.tokens]), torch.full((1, 32), 7.0))
    of_words = untrained.network.language.get_input_embeddings()
    assert torch.equal(vectors[0, position], torch.full((32,), 7.0, dtype=vectors.dtype))
    assert torch.equal(vectors[0, position + 1], of_words.weight[first.tokens[position + 1]])


def test_lessons_are_what_the_teacher_replies(untrained: GraphLLM) -> None:
    replies = [lesson.reply for lesson in untrained.lessons([QUESTION])]
    assert replies[-2:] == [SUFFICIENT, "Selby Quay"]
    assert replies[0].startswith("[SUBQ] ")


@pytest.mark.parametrize("changed", [{}, {"lora": False}, {"graph_token": False}])
def test_what_learns(ras: RAS, chat_model: Path, changed: dict[str, bool]) -> None:
    llm = GraphLLM(ras, base=str(chat_model), hidden=16, layers=1, **changed)
    network = llm._untrained()
    network.loss(llm._read(llm.lessons([QUESTION]), llm.settings.graph_token)).backward()
    of_graph = network.encoder.convs[0].lin_value.weight.grad
    assert (of_graph is not None and of_graph.any()) == llm.settings.graph_token
    of_language = [weight.grad for weight in network.language.parameters() if weight.requires_grad]
    assert bool(of_language) == llm.settings.lora


def test_roles_share_one_network_or_have_one_each(ras: RAS, chat_model: Path) -> None:
    replies = {}
    for roles in ("both", "planner", "answerer"):
        llm = GraphLLM(ras, base=str(chat_model), roles=roles)
        replies[roles] = {lesson.reply for lesson in llm.lessons([QUESTION])}
    assert replies["both"] == replies["planner"] | replies["answerer"]
    assert replies["answerer"] == {"Selby Quay"}


def test_it_learns_and_what_is_kept_answers(
    ras: RAS, chat_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path))
    monkeypatch.setattr("kit.methods.ras.graph_llm.RATE", 3e-2)
    parts = {"hidden": 16, "layers": 1, "roles": "answerer", "epochs": 30}
    llm = GraphLLM(ras, base=str(chat_model), **parts)
    llm.fit(BENCHMARK)
    assert llm.history[-1]["loss"] < 0.2 < llm.history[0]["loss"]

    grown = llm.lessons([QUESTION])[-1].state
    llm.agent().conclude([grown])
    assert grown.answer.lower() == "selby quay"
    [exchange] = grown.exchanges
    assert QUESTION.text in exchange.prompt

    unread = Trajectory(QUESTION.query)
    llm.agent(graph_token=False).conclude([unread])
    assert isinstance(unread.answer, str)  # nothing was found, and no token stands for it


def test_no_question_to_learn_from_is_told(ras: RAS, chat_model: Path) -> None:
    with pytest.raises(InputError, match="sub-questions and short answers"):
        GraphLLM(ras, base=str(chat_model)).fit(Benchmark("empty", BENCHMARK.corpus))
