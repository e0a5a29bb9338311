"""Networks that come with the kit: what they begin with, and when they learn."""

import json
from pathlib import Path
from typing import Annotated

import pytest
import torch
from msgspec.structs import replace as with_fields
from safetensors.torch import save_file

from kit.corpus import Benchmark, example
from kit.errors import InputError
from kit.learning import shipped
from kit.learning.shipped import Shipped, Start
from kit.learning.training import Slot, read_weights
from kit.methods import Retriever
from kit.methods.training import expect_training
from kit.settings import BaseSettings
from kit.store import Store

WORLDS = 7.0  # the weight that comes with the kit


class Sum(Shipped, Retriever):
    """Learns one weight: what it begins with, and one for each training question."""

    name = "sum"
    kind = "sums"
    training_settings = ("bonus",)

    class Settings(BaseSettings, frozen=True):
        start: Start = "worlds"
        encoder: Annotated[str, "a sentence encoder"] = "all-MiniLM-L6-v2"
        bonus: Annotated[int, "is added once"] = 0

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(benchmark, benchmark.train, 0, self.name)

    def train(self, benchmarks: shipped.Benchmarks, slot: Slot) -> Path:
        start = self.learned or 0.0
        learned = start + self.settings.bonus + sum(len(data.train) for data in benchmarks)

        def write(folder: Path) -> None:
            save_file({"weight": torch.tensor([learned])}, folder / "weights.safetensors")
            (folder / "history.json").write_text(json.dumps([{"step": 1, "loss": learned}]))

        return slot.store.put_folder(slot.kind, slot.key, write)

    def restore(self, folder: Path) -> None:
        self.learned = float(read_weights(folder)["weight"])


@pytest.fixture(autouse=True)
def networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of networks with that of Sum, and a store of the test's own."""
    monkeypatch.setattr(shipped, "NETWORKS", tmp_path / "networks")
    monkeypatch.setattr(Sum, "store", Store(tmp_path / "store"))
    folder = tmp_path / "networks" / "sum"
    folder.mkdir(parents=True)
    save_file({"weight": torch.tensor([WORLDS]).half()}, folder / "weights.safetensors")
    (folder / "history.json").write_text('[{"step": 9, "loss": 0.5}]')
    return folder


def with_training(n: int) -> Benchmark:
    """The example with n training questions."""
    data = example()
    train = [with_fields(data.test[0], id=f"t{index}") for index in range(n)]
    return Benchmark("example", data.corpus, train=train)


def test_it_is_of_use_as_it_comes() -> None:
    method = Sum()
    assert method.learned == WORLDS
    assert method.history == ({"step": 9, "loss": 0.5},)

    method.fit(with_training(0))  # with nothing to learn from it stays
    assert method.learned == WORLDS


def test_fit_goes_on_from_the_worlds_or_begins_anew() -> None:
    tuned = Sum()
    tuned.fit(with_training(3))
    assert tuned.learned == WORLDS + 3

    scratch = Sum(start="untrained")
    assert scratch.learned is None and not scratch.history
    scratch.fit(with_training(3))
    assert scratch.learned == 3
    with pytest.raises(InputError, match="expected some training questions"):
        Sum(start="untrained").fit(with_training(0))


def test_a_second_training_forgets_the_first() -> None:
    method = Sum()
    method.fit(with_training(3))
    method.fit(with_training(5))
    assert method.learned == WORLDS + 5
    method.fit(with_training(0))
    assert method.learned == WORLDS


def test_it_learns_from_several_benchmarks() -> None:
    method = Sum(start="untrained", bonus=10)
    method.learn([with_training(3), with_training(2)])
    assert method.learned == 15


def test_other_weights_of_the_worlds_are_another_beginning(networks: Path) -> None:
    first = Sum()
    first.fit(with_training(3))
    save_file({"weight": torch.tensor([100.0]).half()}, networks / "weights.safetensors")
    second = Sum()
    second.fit(with_training(3))
    assert (first.learned, second.learned) == (WORLDS + 3, 103)


def test_what_was_learned_is_shipped_in_half_the_size(networks: Path) -> None:
    method = Sum(start="untrained")
    learned = method.learn([with_training(4)])
    method.ship(learned, networks)
    assert read_weights(networks)["weight"].dtype == torch.float16
    assert Sum().learned == 4
    assert Sum().history == method.history


def test_weights_of_one_encoder_go_with_no_other() -> None:
    with pytest.raises(InputError, match="start: the weights of sum that come with the kit are"):
        Sum(encoder="another")
    assert Sum(encoder="another", start="untrained").learned is None
