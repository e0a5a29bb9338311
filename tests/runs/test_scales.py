from __future__ import annotations

import pytest

from kit.errors import InputError
from kit.graphs import BUILDERS
from kit.runs.scales import SCALES, find_scale


def test_each_scale_is_found_and_sweeps_every_builder() -> None:
    for name, scale in SCALES.items():
        assert find_scale(name) is scale and scale.name == name
        assert set(scale.knobs) == set(BUILDERS)


def test_values_run_from_sparse_to_dense() -> None:
    for scale in SCALES.values():
        for builder, values in scale.knobs.items():
            assert list(values) == sorted(set(values), reverse=builder == "entity")


def test_each_scale_is_larger_than_the_one_before() -> None:
    smoke, middle, paper = SCALES.values()
    assert smoke.n_questions < middle.n_questions and paper.n_questions is None
    assert smoke.draws < middle.draws <= paper.draws
    for builder in BUILDERS:
        assert len(smoke.knobs[builder]) < len(middle.knobs[builder]) <= len(paper.knobs[builder])


def test_an_unknown_scale_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="expected one of smoke, class, paper, not 'large'"):
        find_scale("large")
