"""The agents that write: by hand with a model of random weights, and with a chat model on a real server."""

from pathlib import Path

import pytest

from kit.cli import cli
from kit.corpus import export, load
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import NodeVisit, Ranking, make
from kit.text import TfidfIndex
from kit.text.language_models import SequenceToSequence, language_model
from kit.text.precision import one_thread
from kit.text.prompts import evidence_prompt, prefixed_evidence_prompt

WALK = {"budget": 6, "branching": 3}


@pytest.fixture(autouse=True)
def as_ever(own_store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with one_thread():
        yield


def answered(model: str, data: Path, run: Path) -> dict[str, Ranking]:
    """`kit evaluate kgp-chat`, with its rankings in ``run``; and the same once more from the store, explained."""
    options = [f"--set={name}={value}" for name, value in {"model": model, **WALK}.items()]
    cli.main(["evaluate", "kgp-chat", "--data", str(data), "--trec", str(run), *options], standalone_mode=False)
    retriever = make("kgp-chat", model=model, **WALK)
    retriever.index(load(data).corpus)
    return {question.id: retriever.explain(question.query, 6) for question in load(data).test}


def test_candidates_are_ranked_by_what_the_model_writes(tiny_t5: Path, indexed) -> None:
    corpus, question = example().corpus, example().test[0]
    retriever = indexed("kgp-t5", writer=f"t5:{tiny_t5}", **WALK)
    visits = [step for step in retriever.explain(question.query, 6).trace.events if isinstance(step, NodeVisit)]
    model, index = SequenceToSequence(str(tiny_t5)), TfidfIndex(corpus)
    for visit in visits:
        path = [corpus[id].full_text.replace("\n", " ") for id in (*visit.before, visit.source) if id]
        (answer,) = model.generate([prefixed_evidence_prompt(question.text, path)], progress=False)
        assert visit.generated_evidence == answer.text
        scores = index.scores([answer.text or question.text])[0]
        assert visit.score == pytest.approx(scores[corpus.row[visit.passage]], abs=1e-6)
    usage = retriever.usage().set_index("source")["calls"]
    assert usage["live"] == len({(*visit.before, visit.source) for visit in visits})


def test_a_chat_model_is_asked_as_in_listing_1_and_replayed_without_its_server(server, tmp_path: Path) -> None:
    data, runs = export(example(), tmp_path / "example", "kit"), (tmp_path / "first.trec", tmp_path / "replayed.trec")
    first = answered(f"server:{server.model}@{server.url}", data, runs[0])
    replay = f"replay:server:{server.model}"  # without an address
    replayed = answered(replay, data, runs[1])
    assert runs[0].read_bytes() == runs[1].read_bytes()
    assert [it.trace for it in replayed.values()] == [it.trace for it in first.values()]
    for question in load(data).test:
        visit = next(step for step in first[question.id].trace.events if isinstance(step, NodeVisit))
        (asked,) = language_model(replay).generate([evidence_prompt(question.text, [])], progress=False)
        assert visit.generated_evidence == asked.text != ""


def test_a_chat_model_must_be_named() -> None:
    with pytest.raises(InputError, match="field model: expected a language model as t5:FOLDER-OR-NAME, server:MODEL"):
        make("kgp-chat")
