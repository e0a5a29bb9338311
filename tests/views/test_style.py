import subprocess
import sys
from itertools import pairwise

import matplotlib
from seaborn.external.husl import hex_to_husl

from kit.methods import METHODS
from kit.views.replay import SHADES
from kit.views.style import LOOKS, Look, look, looks, style


def lightness(colour: str) -> float:
    """CIE L*, what is left of a colour in grey: 0 black, 100 white."""
    return hex_to_husl(colour)[2]


def test_named_looks_stay_apart_in_grey_and_dark_enough_on_white():
    names = ("tfidf", "dense", "gnn-ret", "rgnn-ret", "bm25")
    levels = sorted(lightness(LOOKS[name].colour) for name in names)
    assert all(higher - lower > 9 for lower, higher in pairwise(levels))
    assert levels[-1] < 62  # a contrast of 3 to 1 on white


def test_every_method_has_a_look_that_is_the_same_in_all_figures() -> None:
    assert set(METHODS) <= set(LOOKS)
    for names in (["dense", "ras", "ircot"], ["ras", "golden", "none"]):
        assert looks(names)["ras"] == Look("#661100", "^")


def test_what_shares_a_colour_never_shares_a_figure():
    assert look("knn") == look("dense")
    retrievers = ("bm25", "tfidf", "dense", "gnn-ret", "rgnn-ret")
    trained = ("bm25", "tfidf", "dense", "dpr", "mdr")
    for names in (("tfidf", "knn", "knn-mdr", "entity", "structure"), retrievers, trained):
        for part in ("colour", "marker", "dash"):
            assert len({getattr(look(name), part) for name in names}) == len(names)


def test_settings_get_the_looks_that_methods_leave():
    given = looks(["mean", "gnn-ret", "min", "dense", "mean"])
    assert list(given) == ["mean", "gnn-ret", "min", "dense"]
    assert (
        given["gnn-ret"] == look("gnn-ret") and len({named.colour for named in given.values()}) == 4
    )


def test_no_two_names_of_a_figure_look_the_same():
    settings = [f"setting {rank}" for rank in range(40)]
    for names in (["rgnn-ret", "mdr", "dense", "knn", "mean"], list(LOOKS), settings):
        given = looks(names)
        assert list(given) == names and len(set(given.values())) == len(names)
    assert len(looks(map(str, range(1000)))) == 1000  # more than there are
    assert looks(["rgnn-ret", "mdr"])["rgnn-ret"] == look("rgnn-ret")


def test_the_users_own_settings_play_no_part():
    with matplotlib.rc_context({"font.size": 40, "axes.facecolor": "red"}):
        with style():
            assert matplotlib.rcParams["font.size"] == 12
            assert matplotlib.rcParams["axes.facecolor"] == "white"
        assert matplotlib.rcParams["font.size"] == 40


def test_a_figure_shows_itself_without_pyplot():
    code = (
        "from kit.views.style import Figure; data, about = Figure('Two $a$ and $b$')._repr_png_();"
        "assert data[:4] == b'\\x89PNG'; import matplotlib.pyplot;"
        "print(about, matplotlib.pyplot.get_fignums())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'width': 960, 'height': 540, 'alt': 'Two $a$ and $b$'} []\n"


def test_shades_grow_darker_from_far_to_near_in_grey_too():
    levels = [lightness(colour) for colour in SHADES]
    assert all(farther - nearer > 6 for farther, nearer in pairwise(levels))
