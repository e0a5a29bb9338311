"""Learning to write the next evidence: a training that stops, goes on and is found again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from safetensors.numpy import load_file

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.errors import InputError
from kit.store import Store
from kit.text.language_models import SequenceToSequence
from kit.text.language_models.evidence import Finetuning, train_evidence_writer

ASKED = "What evidence do we need to answer the question given the current evidence? "
TOWN = "In which town was the director of the film The Glass Harbour born?"


@pytest.fixture
def benchmark() -> Benchmark:
    """The example, its first question to learn from and its second to choose on."""
    found = example()
    return Benchmark("example", found.corpus, train=found.test[:1], dev=found.test[1:])


@pytest.fixture
def base(tiny_t5: Path, tmp_path: Path) -> SequenceToSequence:
    return SequenceToSequence(str(tiny_t5), store=Store(tmp_path))


def settings(**changed: object) -> Finetuning:
    return msgspec.structs.replace(Finetuning(epochs=3, batch=1, learning_rate=0.01, longest_answer=8), **changed)


def folder_of(model: SequenceToSequence) -> Path:
    return Path(model.model_name)


def history(model: SequenceToSequence) -> list[dict[str, float]]:
    return json.loads((folder_of(model) / "history.json").read_text("utf-8"))


def test_it_learns_and_is_found_again(base: SequenceToSequence, benchmark: Benchmark) -> None:
    model = train_evidence_writer(base, benchmark, settings())
    losses, checks = ([row[name] for row in history(model) if name in row] for name in ("loss", "log_likelihood"))
    assert len(checks) == 4 and checks[-1] > checks[0] and losses[-1] < losses[0]
    assert model.generate([ASKED + TOWN], progress=False)[0].answer_tokens <= 8
    before = (folder_of(model) / "model.safetensors").stat().st_mtime_ns
    again = train_evidence_writer(base, benchmark, settings())
    assert folder_of(again) == folder_of(model)
    assert (folder_of(again) / "model.safetensors").stat().st_mtime_ns == before
    assert not list((base.store.folder / "checkpoints").iterdir())
    assert not list(folder_of(model).glob("*.bin"))


def test_the_same_training_gives_the_same_weights(base: SequenceToSequence, benchmark: Benchmark, tmp_path) -> None:
    other = SequenceToSequence(base.model_name, store=Store(tmp_path / "other"))
    one, two = (train_evidence_writer(each, benchmark, settings(epochs=1)) for each in (base, other))
    assert one.identity == two.identity
    three = train_evidence_writer(base, benchmark, settings(epochs=1, seed=1))
    assert three.identity != one.identity


def test_an_interrupted_training_goes_on_to_the_same_weights(
    base: SequenceToSequence, benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train_evidence_writer(base, benchmark, settings())

    class StopsAfterAnEpoch(Store):
        def drop_folder(self, kind: str, key: str) -> None:
            if key.endswith("-1"):  # the first epoch's checkpoint, once the second one's is there
                raise KeyboardInterrupt
            super().drop_folder(kind, key)

    stopped = SequenceToSequence(base.model_name, store=StopsAfterAnEpoch(tmp_path / "other"))
    with pytest.raises(KeyboardInterrupt):
        train_evidence_writer(stopped, benchmark, settings())
    resumed = SequenceToSequence(base.model_name, store=Store(tmp_path / "other"))
    model = train_evidence_writer(resumed, benchmark, settings())
    assert model.identity == whole.identity
    assert history(model) == history(whole)


def test_it_stops_when_dev_gets_no_better_and_keeps_the_best(base: SequenceToSequence, benchmark: Benchmark) -> None:
    # So small a rate changes no weight: the model is best as it is given, and after two epochs there is no third.
    model = train_evidence_writer(base, benchmark, settings(epochs=9, learning_rate=1e-30))
    assert sum("log_likelihood" in row for row in history(model)) == 3
    kept, given = (load_file(folder / "model.safetensors") for folder in (folder_of(model), Path(base.model_name)))
    assert all((kept[name] == given[name]).all() for name in given)


def test_damaged_weights_are_made_again(base: SequenceToSequence, benchmark: Benchmark) -> None:
    weights = folder_of(train_evidence_writer(base, benchmark, settings(epochs=1))) / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-8])
    with pytest.warns(UserWarning, match="damaged"):
        train_evidence_writer(base, benchmark, settings(epochs=1))
    assert weights.read_bytes() == content


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_without_questions_it_says_so(base: SequenceToSequence, benchmark: Benchmark, missing: str) -> None:
    setattr(benchmark, missing, ())
    with pytest.raises(InputError, match="record example: expected training questions and dev questions"):
        train_evidence_writer(base, benchmark, settings())
