"""The writer of evidence: what it learns from, by hand; that it is found again; and the committed one."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from kit_data_evidence_writer import Finetuning, evidence_pairs, finetune, main, new_t5, supporting_clause
from kit_data_evidence_writer.generate import SEEDS, SETTINGS, by_epoch

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.paths import ROOT
from kit.store import Store
from kit.text.language_models import EVIDENCE_WRITER, SequenceToSequence, language_model
from kit.text.prompts import prefixed_evidence_prompt
from kit.text.training import read_history

ASKED = "What evidence do we need to answer the question given the current evidence? "
CORPUS, (TOWN, RIVER) = example().corpus, example().test
HARBOUR, MORAVEC, QUAY = (CORPUS[id].full_text.replace("\n", " ") for id in ("harbour", "moravec", "quay"))
DIRECTED = "The Glass Harbour (film) The Glass Harbour is a silent film directed by Ines Moravec."
BORN = "Ines Moravec She was born in Selby Quay"
FLOODED = "Selby Quay Every spring the river Oll floods its lower streets."
TEXTS = ["who wrote the book , who wrote it ?", "the author of a book was born by the river , born in the hills"] * 2
SMALL = {"d_model": 32, "d_kv": 32, "d_ff": 96, "num_heads": 2, "num_layers": 1, "num_decoder_layers": 1}


# ---- pairs


def written(question: Question) -> dict[str, str]:
    """What is to be written by what has been read."""
    start = f"{ASKED}{question.text}"
    return {prompt.removeprefix(start).strip(): text for prompt, text in evidence_pairs([question], CORPUS)}


def test_each_support_leads_to_the_next_and_the_last_back_to_the_first() -> None:
    found = written(RIVER)
    expected = {"": DIRECTED, HARBOUR: BORN, MORAVEC: FLOODED, QUAY: DIRECTED}
    assert {path: found[path] for path in expected} == expected
    (in_vain,) = found.keys() - expected.keys()
    others = {passage.full_text.replace("\n", " ") for passage in CORPUS.passages} - {HARBOUR, MORAVEC, QUAY}
    assert in_vain in others and found[in_vain] == DIRECTED


def test_supports_without_an_order_are_all_written_at_first_and_then_the_others() -> None:
    found = written(msgspec.structs.replace(TOWN, evidence=EvidenceGraph(2)))
    assert (found[""], found[HARBOUR], found[MORAVEC]) == (f"{DIRECTED} {BORN}", BORN, DIRECTED)


@pytest.mark.parametrize(("type", "first"), [("comparison", f"{DIRECTED} {BORN}"), ("bridge", DIRECTED)])
def test_without_an_evidence_graph_all_but_comparisons_have_the_given_order(type: str, first: str) -> None:
    assert written(msgspec.structs.replace(TOWN, evidence=None, type=type))[""] == first


def test_without_triples_the_answers_are_looked_for() -> None:
    bare = msgspec.structs.replace(TOWN, triples=())
    assert supporting_clause(bare, 0, CORPUS["harbour"]) == DIRECTED.removeprefix("The Glass Harbour (film) ")
    assert supporting_clause(bare, 1, CORPUS["moravec"]) == BORN.removeprefix("Ines Moravec ")
    assert supporting_clause(bare, 1, Passage("empty", "Ines Moravec", "", "empty")) == ""


# ---- learning


@pytest.fixture
def benchmark() -> Benchmark:
    """The example, its first question to learn from and its second to choose on."""
    return Benchmark("example", CORPUS, train=[TOWN], dev=[RIVER])


@pytest.fixture
def base(tiny_t5: Path, tmp_path: Path) -> SequenceToSequence:
    return SequenceToSequence(str(tiny_t5), store=Store(tmp_path))


def settings(**changed: object) -> Finetuning:
    return msgspec.structs.replace(Finetuning(epochs=2, batch=1, learning_rate=0.01, longest_answer=8), **changed)


def test_it_learns_and_is_found_again(base: SequenceToSequence, benchmark: Benchmark) -> None:
    model = finetune(base, benchmark, settings())
    folder = Path(model.model_name)
    rows = by_epoch(read_history(folder))
    assert [row["epoch"] for row in rows] == [1, 2]
    assert rows[-1]["loss"] < rows[0]["loss"] and rows[-1]["dev_loss"] < rows[0]["dev_loss"]
    assert model.generate([ASKED + TOWN.text], progress=False)[0].answer_tokens <= 8
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert finetune(base, benchmark, settings()).model_name == model.model_name
    assert (folder / "model.safetensors").stat().st_mtime_ns == before


def test_the_same_training_gives_the_same_weights(base: SequenceToSequence, benchmark: Benchmark, tmp_path) -> None:
    other = SequenceToSequence(base.model_name, store=Store(tmp_path / "other"))
    one, two = (finetune(each, benchmark, settings(epochs=1)) for each in (base, other))
    assert one.identity == two.identity
    assert finetune(base, benchmark, settings(epochs=1, seed=1)).identity != one.identity


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_without_questions_it_says_so(base: SequenceToSequence, benchmark: Benchmark, missing: str) -> None:
    setattr(benchmark, missing, ())
    with pytest.raises(InputError, match="record example: expected training questions and dev questions"):
        finetune(base, benchmark, settings())


def test_it_learns_to_copy_a_name_that_it_has_never_met(tmp_path: Path) -> None:
    """Who wrote a book is said in its passage, and the author's passage comes next."""
    names = [chr(97 + one) + chr(97 + two) * 2 for one in range(8) for two in range(4)]
    passages, questions = [], []
    for book, author in zip([f"Vol{name}" for name in names], [f"Mr{name}" for name in names[::-1]]):
        passages += [Passage(f"{book}-b", book, f"{author} wrote the book", book)]
        passages += [Passage(f"{book}-a", author, "was born", author)]
        ids, asked = ((f"{book}-b",), (f"{book}-a",)), f"who wrote {book} ?"
        questions.append(Question(book, asked, author, ids, evidence=EvidenceGraph(2, ((0, 1),))))
    books = Benchmark("books", Corpus(passages), train=questions[:24], dev=questions[24:])
    learned = Finetuning(epochs=20, batch=16, learning_rate=0.01, longest_prompt=64, longest_answer=8)
    model = finetune(new_t5(TEXTS, 30, SMALL, store=Store(tmp_path)), books, learned)
    prompt = f"{ASKED}who wrote Silverwood ? Silverwood Thackaberry wrote the book"
    assert model.generate([prompt], progress=False)[0].text == "Thackaberry was born"


# ---- the command, and what it made


def test_a_model_of_ones_own_is_trained_into_a_folder(
    tiny_t5: Path, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("kit_data_evidence_writer.generate.load_training", {(tmp_path / "train.json",): benchmark}.get)
    writer = tmp_path / "writer"
    arguments = [str(writer), "--base", f"t5:{tiny_t5}", "--train", str(tmp_path / "train.json"), "--epochs", "1"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert len(json.loads((writer / "history.json").read_text("utf-8"))) == 1
    assert language_model(f"t5:{writer}").generate([ASKED], progress=False)
    refused = CliRunner().invoke(main, [str(tmp_path / "x"), "--base", "replay:server:x"])
    assert "expected t5:FOLDER-OR-NAME to be trained, not 'replay:server:x'" in str(refused.exception)
    assert not (tmp_path / "x").exists()


def test_the_committed_files_are_small_hold_no_code_and_tell_their_training() -> None:
    files = {file.name: file.stat().st_size for file in (ROOT / EVIDENCE_WRITER).iterdir() if file.is_file()}
    assert {Path(name).suffix for name in files} == {".json", ".safetensors"} and sum(files.values()) < 15e6
    losses = [row["dev_loss"] for row in json.loads((ROOT / EVIDENCE_WRITER / "history.json").read_text("utf-8"))]
    assert len(losses) <= SETTINGS.epochs
    assert losses == sorted(losses, reverse=True)  # it was still getting better, epoch by epoch
    assert 0 not in SEEDS  # the seed of the embedded atlas


def test_the_committed_writer_is_found_from_anywhere_and_writes_names_that_it_has_never_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = language_model(f"t5:{EVIDENCE_WRITER}", store=Store(tmp_path))
    question = "Which prize did the person who directed the film Quiet Thackaberry receive?"
    support = "Quiet Thackaberry Quiet Thackaberry is a 1950 film directed by Osmund Pellwick."
    first, later = model.generate([prefixed_evidence_prompt(question, read) for read in ([], [support])])
    assert "Thackaberry" in first.text
    assert "Osmund" in later.text  # which no word of the question says
