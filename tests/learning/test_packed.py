"""Weights in four bits: by hand, and how near they come."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from kit.learning.packed import from_bytes, pack, quantise, two_to_a_byte, unpack


def test_two_codes_stand_in_a_byte() -> None:
    codes = torch.tensor([[-7.0, 7.0, 0.0], [1.0, -1.0, 2.0]])
    # From zero: 0 and 14, 7; 8 and 6, 9. The second of two counts sixteenfold.
    assert two_to_a_byte(codes).tolist() == [[14 * 16, 7], [8 + 6 * 16, 9]]
    assert from_bytes(two_to_a_byte(codes), 3).equal(codes)


def test_what_has_few_values_is_kept_exactly() -> None:
    change = torch.tensor([[7.0, -3.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [-14.0, 6.0, 4.0, 2.0]])
    codes, scales = quantise(change)
    assert codes.tolist() == [[7, -3, 0, 1], [0, 0, 0, 0], [-7, 3, 2, 1]]
    assert scales.flatten().tolist() == [1, 0, 2]


def test_one_large_change_does_not_drown_the_others() -> None:
    row = torch.tensor([[1.0] + 100 * [0.1]])
    codes, scales = quantise(row)
    # With sevenths of the largest, squared errors are 100 · .043² = .18; of .8 of it, .2² for the
    # first and 100 · .014² for the others, together .06; of .7, .3² = .09.
    assert codes[0].tolist() == [7] + 100 * [1]
    assert abs(float(scales) - 0.8 / 7) < 1e-4


@given(st.integers(1, 5), st.integers(1, 9), st.floats(1e-6, 100), st.integers(0, 99))
def test_any_matrix_comes_back_nearly(rows: int, columns: int, size: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    base = {"w": torch.randn(rows, columns, generator=generator), "b": torch.ones(3)}
    change = size * torch.randn(rows, columns, generator=generator)
    learned = {"w": base["w"] + change, "b": torch.tensor([1.0, 2.0, 3.0])}
    packed = pack(learned, base)
    assert packed["w.codes"].dtype == torch.uint8
    again = unpack(packed, base)
    assert again["b"].tolist() == [1, 2, 3]
    made = learned["w"] - base["w"]
    # No worse than by the whole range: half a step of a seventh of the largest change.
    step = made.abs().amax(1, keepdim=True) / 7
    errors = (again["w"] - learned["w"]).square().sum(1)
    assert (errors <= (columns * (step / 2 + 1e-6).square() * 1.1).squeeze(1) + 1e-9).all()


def test_what_did_not_change_takes_no_room() -> None:
    base = {"w": torch.eye(2), "b": torch.ones(2)}
    assert pack(base, base) == {}
    again = unpack({}, base)
    assert all(again[name].equal(weight) for name, weight in base.items())
