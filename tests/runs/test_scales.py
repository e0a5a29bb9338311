from __future__ import annotations

import pytest

from kit.errors import InputError
from kit.graphs import BUILDERS
from kit.runs.scales import SCALES, find_scale


def test_each_scale_is_found_and_sweeps_every_builder() -> None:
    for name, scale in SCALES.items():
        assert find_scale(name) is scale and scale.name == name
        assert set(scale.densities) == set(BUILDERS)


def test_an_unknown_scale_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="expected one of smoke, class, paper, not 'large'"):
        find_scale("large")
