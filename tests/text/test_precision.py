"""Half the precision where a machine is quick at it."""

import torch

from kit.text.precision import mixed_precision


def test_products_are_near_those_in_full_and_weights_stay_full() -> None:
    layer, rows = torch.nn.Linear(8, 8), torch.linspace(-1, 1, 16).reshape(2, 8)
    full = layer(rows)
    with mixed_precision():
        half = layer(rows)
    quick = torch.cuda.is_available() or bool(torch.cpu.get_capabilities().get("amx_bf16"))
    assert half.dtype == (torch.bfloat16 if quick else torch.float32)
    torch.testing.assert_close(half.float(), full, atol=0.02, rtol=0.02)
    half.float().sum().backward()
    assert layer.weight.dtype == layer.weight.grad.dtype == torch.float32
