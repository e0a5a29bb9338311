"""What is measured for claims of BGR, by hand."""

import numpy as np
import pandas as pd

from kit.lab.claims.bgr import HARDEST, SIMPLEST, bgr_04, bgr_07, bgr_11

FEW = {"seed": 0, "n_resamples": 100}


def test_bgr_04_leaves_out_depths_at_the_floor() -> None:
    """Forward falls from 1 to 0 over depths 1 and 2, backward stays at ½; depth 3 tells nothing."""
    recalls = pd.DataFrame(
        {
            "question": ["q", "r"] * 3,
            "depth": [1, 1, 2, 2, 3, 3],
            "forward": [1, 1, 0.5, 0.5, 0, 0],
            "backward": [0.5, 0.5, 0.5, 0.5, 0.02, 0],
        }
    )
    slopes = bgr_04(recalls, **FEW)
    values = {name: measured.value for name, measured in slopes.items()}
    assert values == {"forward": -0.5, "backward": 0, "backward over forward": 0.5}
    assert slopes["forward"].n == 2  # questions, not their depths
    assert bgr_04(recalls[recalls["depth"] != 2], **FEW) == {}


def test_bgr_07_compares_with_the_better_direction_of_each_structure() -> None:
    """Of the hard ones backward is better (½), and merged has 1; of the simple ones forward."""
    structures = [HARDEST] * 2 + [SIMPLEST] * 2 + ["other"]
    matched = {
        "bgr": np.array([[1, 1, 0.5, 0.5, 0]]).T,
        "forward": np.array([[0, 0, 1, 1, 1]]).T,
        "backward": np.array([[0.5, 0.5, 0, 0, 1]]).T,
    }
    measured = bgr_07(matched, structures, **FEW)
    assert measured["simplest"].value == -0.5 and measured["interaction"].value == 1.0
    assert bgr_07(matched, [HARDEST] * 5, **FEW) == {}


def test_bgr_11_gives_the_graph_nothing_that_the_exact_set_explains() -> None:
    """Answers are right exactly where the set is; half of these graphs are exact, too."""
    generator = np.random.default_rng(0)
    exact_set = np.repeat([1.0, 0.0], 200)
    graph = exact_set * np.tile([1.0, 0.0], 200)
    f1 = np.where(exact_set == 1, 1, 0.5)
    right = generator.random(400) < 0.2 + 0.6 * exact_set
    measures = np.column_stack([f1, exact_set, graph])
    with_set = bgr_11(measures, right, 400, **FEW)
    assert with_set.low < 0 < with_set.high
    graph_tells = generator.random(400) < 0.2 + 0.6 * graph
    tells = bgr_11(measures, graph_tells, 400, **FEW)
    assert tells.low > 0 and tells.n == 400
