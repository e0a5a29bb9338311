"""The writer of evidence: what it learns from, by hand; that it is found again; and the committed one."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from kit_data_evidence_writer import Finetuning, evidence_pairs, learn_from, main, new_t5, supporting_clause

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Passage, Question, example
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
LESSON = Benchmark("example", CORPUS, train=[TOWN], dev=[RIVER])


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
    for type, first in (("comparison", f"{DIRECTED} {BORN}"), ("bridge", DIRECTED)):  # without an evidence graph
        assert written(msgspec.structs.replace(TOWN, evidence=None, type=type))[""] == first


def test_without_triples_the_answers_are_looked_for() -> None:
    bare = msgspec.structs.replace(TOWN, triples=())
    assert supporting_clause(bare, 0, CORPUS["harbour"]) == DIRECTED.removeprefix("The Glass Harbour (film) ")
    assert supporting_clause(bare, 1, CORPUS["moravec"]) == BORN.removeprefix("Ines Moravec ")


@pytest.fixture
def base(tiny_t5: Path, tmp_path: Path) -> SequenceToSequence:
    return SequenceToSequence(str(tiny_t5), store=Store(tmp_path))


def settings(**changed: object) -> Finetuning:
    return msgspec.structs.replace(Finetuning(epochs=2, batch=1, learning_rate=0.01, longest_answer=8), **changed)


def test_it_learns_from_questions_and_is_found_again(base: SequenceToSequence, tmp_path: Path) -> None:
    model = learn_from(base, LESSON, settings())
    folder = Path(model.model_name)
    scores = [row["log_likelihood"] for row in read_history(folder) if "loss" not in row]
    assert len(scores) == 3 and scores[-1] > scores[0]
    assert model.generate([ASKED + TOWN.text], progress=False)[0].answer_tokens <= 8
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert learn_from(base, LESSON, settings()).model_name == model.model_name
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    # The same training gives the same weights, and another seed others.
    elsewhere = SequenceToSequence(base.model_name, store=Store(tmp_path / "other"))
    assert learn_from(elsewhere, LESSON, settings()).identity == model.identity
    assert learn_from(base, LESSON, settings(seed=1)).identity != model.identity
    for some in (Benchmark("example", CORPUS, train=[TOWN]), Benchmark("example", CORPUS, dev=[RIVER])):
        with pytest.raises(InputError, match="record example: expected training questions and dev questions"):
            learn_from(base, some, settings())


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
    model = learn_from(new_t5(TEXTS, 30, SMALL, store=Store(tmp_path)), books, learned)
    prompt = f"{ASKED}who wrote Silverwood ? Silverwood Thackaberry wrote the book"
    assert model.generate([prompt], progress=False)[0].text == "Thackaberry was born"


def test_a_model_of_ones_own_is_trained_into_a_folder(tiny_t5: Path, tmp_path: Path, own_store, monkeypatch) -> None:
    monkeypatch.setattr("kit_data_evidence_writer.generate.load_training", {(tmp_path / "train.json",): LESSON}.get)
    writer = tmp_path / "writer"
    arguments = [str(writer), "--base", f"t5:{tiny_t5}", "--train", str(tmp_path / "train.json"), "--epochs", "2"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    rows = json.loads((writer / "history.json").read_text("utf-8"))
    assert [(row["epoch"], set(row)) for row in rows] == [(n, {"epoch", "loss", "dev_loss"}) for n in (1, 2)]
    assert language_model(f"t5:{writer}").generate([ASKED], progress=False)
    refused = CliRunner().invoke(main, [str(tmp_path / "x"), "--base", "replay:server:x"])
    assert "expected t5:FOLDER-OR-NAME to be trained, not 'replay:server:x'" in str(refused.exception)


def test_the_committed_writer_is_small_tells_its_training_and_copies_new_names(tmp_path: Path, monkeypatch) -> None:
    files = {file.name: file.stat().st_size for file in (ROOT / EVIDENCE_WRITER).iterdir() if file.is_file()}
    assert {Path(name).suffix for name in files} == {".json", ".safetensors"} and sum(files.values()) < 15e6
    losses = [row["dev_loss"] for row in json.loads((ROOT / EVIDENCE_WRITER / "history.json").read_text("utf-8"))]
    assert losses == sorted(losses, reverse=True)  # it was still getting better, epoch by epoch
    monkeypatch.chdir(tmp_path)  # it is found from anywhere
    model = language_model(f"t5:{EVIDENCE_WRITER}", store=Store(tmp_path))
    question = "Which prize did the person who directed the film Quiet Thackaberry receive?"
    support = "Quiet Thackaberry Quiet Thackaberry is a 1950 film directed by Osmund Pellwick."
    first, later = model.generate([prefixed_evidence_prompt(question, read) for read in ([], [support])])
    assert "Thackaberry" in first.text
    assert "Osmund" in later.text  # which no word of the question says
