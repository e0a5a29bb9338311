"""Names with other names in brackets: how they are read, and what is told of wrong ones."""

import pytest

from kit.errors import InputError
from kit.methods import make, make_all, settings_of
from kit.methods.nested import Call, read_call


def test_brackets_may_stand_in_brackets() -> None:
    assert read_call(" bm25 ") == Call("bm25")
    assert read_call("fuse(bm25,gnn-ret)") == Call("fuse", ("bm25", "gnn-ret"))
    call = read_call("rerank(fuse(bm25, dense), org/model, 50)")
    assert call == Call("rerank", ("fuse(bm25, dense)", "org/model", "50"))


@pytest.mark.parametrize(
    "text", ["fuse(", "fuse()", "fuse(a,)", "fuse(a, b", "fuse(a)) b)", "f(a)x"]
)
def test_what_does_not_close_is_told(text: str) -> None:
    with pytest.raises(InputError, match="expected a name such as fuse"):
        read_call(text)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fuse(bm25)", "at least two methods"),
        ("fuse", "at least two methods"),
        ("fuse(bm25, gnnret)", "no retriever 'gnnret'"),
        ("melt(bm25, dense)", "no retriever 'melt"),
        ("rerank(bm25)", r"rerank\(METHOD, MODEL\)"),
        ("rerank(bm25, dense, many)", r"rerank\(METHOD, MODEL\)"),
        ("rerank(bm26, dense)", "no retriever 'bm26'"),
    ],
)
def test_what_cannot_be_made_is_told(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(name)


def test_a_setting_goes_to_whoever_has_it() -> None:
    name = "rerank(gnn-ret, dense)"
    assert {"first", "top_k", "encoder"} <= set(settings_of(name))
    wrapped, plain = make_all([name, "bm25"], first=7, top_k=3).values()
    assert (wrapped.settings.first, wrapped.parts[0].settings.top_k) == (7, 3)
    assert wrapped.name == "rerank(gnn-ret, dense)" and plain.name == "bm25"
