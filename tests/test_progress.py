"""Progress bars: where they are shown, and what stays of them."""

import io

import pytest
from joblib import Parallel, delayed

from kit.progress import progress_bar


def test_a_bar_vanishes_when_done() -> None:
    sink = io.StringIO()
    assert list(progress_bar(["a", "b"], desc="reading", file=sink)) == ["a", "b"]
    drawn = sink.getvalue()
    assert "reading" in drawn and drawn.rpartition("\r")[2] == ""
    assert drawn.split("\r")[-2].strip() == ""  # overwritten with blanks


def test_no_bar_where_none_is_wanted(capsys: pytest.CaptureFixture) -> None:
    assert list(progress_bar([1, 2], shown=False, desc="reading")) == [1, 2]
    assert capsys.readouterr().err == ""


def is_disabled() -> bool:
    return progress_bar([1], desc="reading").disable


def test_workers_show_none() -> None:
    assert not is_disabled()
    assert Parallel(2)(delayed(is_disabled)() for _ in range(2)) == [True, True]
