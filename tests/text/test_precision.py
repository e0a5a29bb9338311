"""Half the precision where a machine is quick at it, and fused attention: what transformers computes itself."""

import copy
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from kit.text.precision import FUSED, fuse_attention, mixed_precision

IDS = torch.tensor([[2, 5, 7, 3, 0], [2, 9, 3, 0, 0], [2, 4, 6, 8, 3]])
READ = (IDS != 0).long()


def test_fused_attention_is_that_of_plain_matrix_products(tmp_path: Path) -> None:
    torch.manual_seed(0)
    shape = BertConfig(vocab_size=10, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    plain = BertModel(shape).eval()
    plain.set_attn_implementation("eager")
    fused = copy.deepcopy(plain)
    fuse_attention(fused)
    states = [model(IDS, attention_mask=READ).last_hidden_state[READ.bool()] for model in (plain, fused)]
    torch.testing.assert_close(*states)
    for of in states:
        of.square().sum().backward()
    name = "encoder.layer.0.attention.self.query.weight"
    torch.testing.assert_close(fused.get_parameter(name).grad, plain.get_parameter(name).grad, atol=1e-5, rtol=1e-4)
    with mixed_precision():  # padding is not attended to here either
        together = fused(IDS, attention_mask=READ).last_hidden_state[1, :3]
        alone = fused(IDS[1:2, :3]).last_hidden_state[0]
    torch.testing.assert_close(together.float(), alone.float(), atol=0.05, rtol=0.05)
    fused.save_pretrained(tmp_path)
    assert FUSED not in (tmp_path / "config.json").read_text()


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
