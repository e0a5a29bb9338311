"""What the guide to adding a method shows."""

import re
from pathlib import Path

import pytest

import kit
from kit.corpus import Benchmark
from kit.errors import InputError
from kit.methods import METHODS

GUIDE = Path(kit.__file__).parent / "methods" / "README.md"


@pytest.fixture
def shown(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """The names that the guide's code binds; the methods that it registers are gone afterwards."""
    for name in ("second-hop", "trained-second-hop"):
        monkeypatch.setitem(METHODS, name, kit.Retriever)
        monkeypatch.delitem(METHODS, name)
    names: dict = {"__name__": "guide"}
    for block in re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S):
        exec(compile(block, "the guide", "exec"), names)
    return names


def test_a_method_of_ones_own_is_evaluated_and_explored(shown: dict) -> None:
    table = shown["experiment"].summary().set_index(["retriever", "metric"])["mean"]
    # The keyword search finds the film; its director is a neighbour of the film's passage.
    assert table["second-hop", "full@3"] >= table["tfidf", "full@3"]
    assert {"graph", "most"} <= set(shown["widget"].controls)
    assert len(shown["widget"].canvas.replay["frames"]) > 1


def test_its_settings_are_documented_and_checked(shown: dict) -> None:
    described = shown["SecondHop"].__doc__
    assert "most: a whole number from 1 (default 3): neighbours that come before" in described
    with pytest.raises(InputError, match="has no setting 'mast'; it has graph, most"):
        kit.make("second-hop", mast=1)
    with pytest.raises(InputError, match="second-hop has no corpus yet: index one first"):
        kit.make("second-hop").retrieve("Which river?", 1)


def test_it_learns_once_and_is_found_again(shown: dict, own_store: Path) -> None:
    example = kit.example()
    benchmark = Benchmark("six", example.corpus, train=example.test, test=example.test)
    first, second = (shown["TrainedSecondHop"]() for _ in range(2))
    with pytest.raises(InputError, match="has learned nothing yet"):
        first.expect_fit()
    first.fit(benchmark)
    folders = list((own_store / "trained-second-hop").glob("[0-9a-f]*[0-9a-f]"))
    second.fit(benchmark)
    assert first.learned == second.learned and len(folders) == 1
    assert list((own_store / "trained-second-hop").glob("[0-9a-f]*[0-9a-f]")) == folders


def test_a_name_of_the_kit_is_not_taken_away(shown: dict) -> None:
    class Impostor(shown["SecondHop"]):
        name = "bm25"

    with pytest.raises(InputError, match="the kit has a method 'bm25' already"):
        kit.register(Impostor)
