"""What is learned once, and found again by code, settings and data."""

import json
from pathlib import Path
from typing import Annotated

import pytest

from kit.corpus import Benchmark, example
from kit.errors import InputError
from kit.fingerprint import code_digest, with_imports
from kit.learning.trained import Trained, code_of
from kit.learning.training import Slot
from kit.settings import BaseSettings, check
from kit.store import Store


class Counter(Trained):
    """Learns how many passages there are, times a setting."""

    name = "counter"
    kind = "counters"
    training_settings = ("times",)

    class Settings(BaseSettings, frozen=True):
        times: Annotated[int, "how often each passage counts"] = 1
        shown: Annotated[bool, "has no part in training"] = False

    def __init__(self, store: Store, **values: object) -> None:
        self.store = store
        self.settings = check(self.Settings, values, self.name)
        self.trainings = 0
        self.count = 0

    def expect_training(self, benchmark: Benchmark) -> None:
        if not benchmark.test:
            raise InputError("expected questions")

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        self.trainings += 1
        count = self.settings.times * len(benchmark.corpus)

        def write(folder: Path) -> None:
            (folder / "history.json").write_text(json.dumps([{"count": count}]))

        return slot.store.put_folder(slot.kind, slot.key, write)

    def restore(self, folder: Path) -> None:
        self.count = self.history[0]["count"]


class Doubling(Counter):
    """The same by another code."""

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        return super().train(benchmark, slot)


def trainings(store: Store, kind: type[Counter] = Counter, **values: object) -> int:
    """How often a new object trains until it has learned."""
    counter = kind(store, **values)
    counter.fit(example())
    assert counter.count == counter.settings.times * 6
    return counter.trainings


def test_it_learns_once_by_code_data_and_what_training_depends_on(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert trainings(store) == 1
    assert trainings(store) == 0
    assert trainings(store, shown=True) == 0
    assert trainings(store, times=2) == 1
    assert trainings(store, Doubling) == 1

    part = Benchmark("part", example().corpus.subset([0, 1]), test=example().test)
    counter = Counter(store)
    counter.fit(part)
    assert counter.trainings == 1 and counter.count == 2


def test_what_cannot_learn_or_has_not_says_so(tmp_path: Path) -> None:
    counter = Counter(Store(tmp_path))
    with pytest.raises(InputError, match="counter has learned nothing yet: call fit"):
        counter.expect_fit()
    with pytest.raises(InputError, match="expected questions"):
        counter.fit(Benchmark("none", example().corpus))
    assert not list(tmp_path.iterdir())


def test_the_code_of_a_class_is_that_of_its_bases_and_of_what_they_import() -> None:
    assert code_of(Counter) == code_of(Counter) != code_of(Doubling)
    imported = with_imports(["kit.learning.trained"])
    assert {"kit.learning.training", "kit.store", "kit.corpus.types"} <= imported
    assert not any(module.startswith(("kit.lab", "kit.views")) for module in imported)
    assert code_digest("kit.store") != code_digest("kit.errors")
    assert code_digest("numpy", "kit") == code_digest()  # only the kit's own files count
