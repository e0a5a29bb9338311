"""A T5 from nothing: found again by its words and shape, and taught to copy names that it has never met."""

from __future__ import annotations

from pathlib import Path

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Passage, Question
from kit.store import Store
from kit.text.language_models.evidence import Finetuning, train_evidence_writer
from kit.text.language_models.small_t5 import Shape, new_t5

TEXTS = ["who wrote the book , who wrote it ?", "the author of a book was born by the river , born in the hills"] * 2
SHAPE = Shape(words=30, width=32, heads=2, layers=1)


def benchmark(names: list[str], dev: list[str]) -> Benchmark:
    """Books by their authors: who wrote a book is said in its passage, and the author's passage comes next."""
    passages, questions = [], []
    for name, other in zip([*names, *dev], [*dev, *names]):
        book, author = f"Vol{name}", f"Mr{other}"
        passages += [
            Passage(f"{book}-{author}", book, f"{author} wrote the book", book),
            Passage(f"{author}-{book}", author, "was born", author),
        ]
        ids = ((f"{book}-{author}",), (f"{author}-{book}",))
        questions.append(Question(book, f"who wrote {book} ?", author, ids, evidence=EvidenceGraph(2, ((0, 1),))))
    return Benchmark("books", Corpus(passages), train=questions[: len(names)], dev=questions[len(names) :])


def test_it_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one, two = new_t5(TEXTS, SHAPE, store), new_t5(TEXTS, SHAPE, store)
    assert one.model_name == two.model_name
    other = new_t5(TEXTS, Shape(words=30, width=32, heads=2, layers=1, seed=1), store)
    assert other.identity != one.identity
    assert new_t5(TEXTS, SHAPE, Store(tmp_path / "other")).identity == one.identity


def test_it_learns_to_copy_a_name_that_it_has_never_met(tmp_path: Path) -> None:
    names = [chr(97 + one) + chr(97 + two) * 2 for one in range(8) for two in range(4)]
    base = new_t5(TEXTS, SHAPE, Store(tmp_path))
    settings = Finetuning(epochs=20, batch=16, learning_rate=0.01, longest_prompt=64, longest_answer=8)
    model = train_evidence_writer(base, benchmark(names[:24], names[24:]), settings)
    prompt = (
        "What evidence do we need to answer the question given the current evidence? "
        "who wrote Silverwood ? Silverwood Thackaberry wrote the book"
    )
    (answer,) = model.generate([prompt], progress=False)
    assert answer.text == "Thackaberry was born"
