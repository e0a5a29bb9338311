"""Small weights: of what a training changed in a base's weights, four bits per number.

A row of a matrix that learned is ``base row + scale · codes``: the codes are whole numbers from
−7 to 7, two to a byte, and each row has a scale of its own. Vectors, such as biases, are kept as
float16 differences. What did not change is left out. So three layers of MiniLM, 5.3 million
numbers, take 2.7 MB.
"""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import pad

from kit.learning.training import Weights

LARGEST_CODE = 7
SMALLEST_SCALE = 1e-8  # keeps a row that did not change from 0 / 0
#: Shares of a row's largest change that a code of 7 may stand for; the best is taken per row.
CLIPS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

CODES = ".codes"  # uint8, (rows, ⌈columns / 2⌉)
SCALES = ".scales"  # float16, (rows, 1)
CHANGE = ".change"  # float16, as the weight


def pack(learned: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> Weights:
    """How the learned weights differ from the base's of the same names, in few bytes."""
    packed = {}
    for name, weight in learned.items():
        change = weight.float().cpu() - base[name].float().cpu()
        if not change.any():
            continue
        if change.dim() != 2:
            packed[name + CHANGE] = change.half()
            continue

        codes, scales = quantise(change)
        packed[name + CODES] = two_to_a_byte(codes)
        packed[name + SCALES] = scales
    return packed


def unpack(packed: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> Weights:
    """The base's weights, changed as :func:`pack` has kept it; float32.

    A weight that is there under its own name counts as it is.
    """
    weights = {}
    for name, before in base.items():
        weight = packed.get(name, before).detach().float().cpu()
        if name + CHANGE in packed:
            weight = weight + packed[name + CHANGE].float()
        if name + CODES in packed:
            codes = from_bytes(packed[name + CODES], weight.shape[1])
            weight = weight + codes * packed[name + SCALES].float()
        weights[name] = weight
    return weights


def quantise(change: Tensor) -> tuple[Tensor, Tensor]:
    """Codes from −7 to 7, (rows, columns), and float16 scales, (rows, 1), whose product it is.

    Of the scales that are tried for a row, the one with the least squared error counts.
    """
    largest = change.abs().amax(1, keepdim=True)  # (rows, 1)
    best_scales = torch.zeros_like(largest, dtype=torch.float16)
    best_errors = torch.full_like(largest, torch.inf)
    for clip in CLIPS:
        scales = (clip * largest / LARGEST_CODE).half()
        made = _codes(change, scales) * scales.float()
        errors = (change - made).square().sum(1, keepdim=True)

        is_better = errors < best_errors
        best_scales = torch.where(is_better, scales, best_scales)
        best_errors = torch.where(is_better, errors, best_errors)
    return _codes(change, best_scales), best_scales


def _codes(change: Tensor, scales: Tensor) -> Tensor:
    divisor = scales.float().clamp(min=SMALLEST_SCALE)
    codes = (change / divisor).round()
    return codes.clamp(-LARGEST_CODE, LARGEST_CODE)


def two_to_a_byte(codes: Tensor) -> Tensor:
    """Codes from −7 to 7, (rows, columns), as bytes: the first of two in the lower four bits."""
    from_zero = (codes + LARGEST_CODE).to(torch.uint8)
    if from_zero.shape[1] % 2:
        from_zero = pad(from_zero, (0, 1))
    lower = from_zero[:, ::2]
    upper = from_zero[:, 1::2]
    return lower + 16 * upper


def from_bytes(packed: Tensor, n_columns: int) -> Tensor:
    """The codes of :func:`two_to_a_byte`, as float32."""
    pairs = torch.stack([packed % 16, packed // 16], -1)  # (rows, bytes, 2)
    return pairs.flatten(1)[:, :n_columns].float() - LARGEST_CODE
