"""The second encoder: a file of two tiny layers, packed by hand, beside a plain computation."""

import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from kit import paths
from kit.errors import InputError
from kit.text import Encoder
from kit.text.e5 import PROMPTS, Packed, network_of, tokenizer_of, unpack, unpacked

HIDDEN, LAYERS, HEADS, WIDE, POSITIONS, TYPES = 32, 2, 4, 64, 24, 1
PIECES = {"<s>": 0.0, "<pad>": 0.0, "</s>": 0.0, "<unk>": 0.0, "▁the": -1.0, "▁": -2.0, "oll": -3.0}
MATRICES = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "ao": (32, 32)}
MATRICES |= {"fi": (64, 32), "fo": (32, 64)}


def block(levels: np.ndarray, scale: float) -> bytes:
    """32 levels from 0 to 15: the first 16 in the low halves of the bytes."""
    halves = levels[:16] | (levels[16:] << 4)
    return struct.pack("<e", scale) + halves.astype(np.uint8).tobytes()


class Packing:
    """Writes tensors as the file has them, and keeps them as they ought to be read."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)
        self.parts = []
        self.tensors = {}

    def blocks(self, name: str, *shape: int) -> None:
        scale = float(np.float16(0.05))
        levels = self.generator.integers(0, 16, (int(np.prod(shape)) // 32, 32))
        self.parts.append((name, b"".join(block(row, scale) for row in levels)))
        self.tensors[name] = scale * (levels.reshape(shape) - 8)

    def numbers(self, name: str, *shape: int) -> None:
        values = self.generator.normal(size=shape).astype("<f4")
        self.parts.append((name, values.tobytes()))
        self.tensors[name] = values

    def file(self) -> bytes:
        sizes = (HIDDEN, LAYERS, HEADS, WIDE, len(PIECES), POSITIONS, TYPES)
        head = b"E5Q4\1\0\0\0" + struct.pack("<7ifi", *sizes, 1e-12, 0)
        texts = [piece.encode() for piece in PIECES]
        cuts = np.cumsum([0, *map(len, texts)])
        head += struct.pack("<5iQ", len(texts), 0, 2, 1, 3, cuts[-1])
        head += cuts.astype("<u4").tobytes() + np.array([*PIECES.values()], "<f4").tobytes()
        head += (
            b"".join(texts) + struct.pack("<iI", 0, 3) + b"map" + struct.pack("<i", len(self.parts))
        )
        entries = [struct.pack("<H", len(name)) + name.encode() for name, _ in self.parts]
        offset = len(head) + sum(len(entry) + struct.calcsize("<BIQQ") for entry in entries)
        for entry, (_, data) in zip(entries, self.parts):
            head += entry + struct.pack("<BIQQ", 0, 0, offset, len(data))
            offset += len(data)
        return head + b"".join(data for _, data in self.parts)


@pytest.fixture(scope="module")
def packing() -> Packing:
    packing = Packing()
    packing.blocks("emb.word", len(PIECES), HIDDEN)
    packing.numbers("emb.pos", POSITIONS, HIDDEN)
    packing.numbers("emb.type", TYPES, HIDDEN)
    norms = ["emb.ln"]
    for layer in range(LAYERS):
        for name, shape in MATRICES.items():
            packing.blocks(f"l{layer}.{name}.w", *shape)
            packing.numbers(f"l{layer}.{name}.b", shape[0])
        norms += [f"l{layer}.aln", f"l{layer}.oln"]
    for name in norms:
        packing.numbers(f"{name}.w", HIDDEN)
        packing.numbers(f"{name}.b", HIDDEN)
    return packing


def normed(x: np.ndarray, tensors: dict[str, np.ndarray], name: str) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * tensors[f"{name}.w"] + tensors[f"{name}.b"]


def plainly(tokens: list[int], tensors: dict[str, np.ndarray]) -> np.ndarray:
    """A BERT's states of some tokens, with nothing but sums and products."""

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ tensors[f"{name}.w"].T + tensors[f"{name}.b"]

    n = len(tokens)
    x = tensors["emb.word"][tokens] + tensors["emb.pos"][:n] + tensors["emb.type"][0]
    x = normed(x, tensors, "emb.ln")
    for layer in range(LAYERS):
        q, k, v = (linear(x, f"l{layer}.{name}") for name in "qkv")
        heads = []
        for part in np.split(np.arange(HIDDEN), HEADS):
            scores = q[:, part] @ k[:, part].T / np.sqrt(len(part))
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ v[:, part])
        x = normed(x + linear(np.hstack(heads), f"l{layer}.ao"), tensors, f"l{layer}.aln")
        inner = torch.nn.functional.gelu(torch.tensor(linear(x, f"l{layer}.fi"))).numpy()
        x = normed(x + linear(inner, f"l{layer}.fo"), tensors, f"l{layer}.oln")
    return x


def test_levels_of_a_block_by_hand() -> None:
    data = block(np.array([0, 15] + [8] * 14 + [9] * 16), 0.5)
    weights = unpacked(np.frombuffer(data, [("scale", "<f2"), ("levels", "u1", 16)]))
    assert weights.tolist() == [-4.0, 3.5] + [0.0] * 14 + [0.5] * 16


def test_the_network_is_what_its_weights_say(packing: Packing) -> None:
    packed = Packed(packing.file())
    tokens = [0, 4, 6, 2]
    with torch.no_grad():
        states = network_of(packed).eval()(torch.tensor([tokens])).last_hidden_state[0]
    assert np.allclose(states.numpy(), plainly(tokens, packing.tensors), atol=1e-4)


def test_pieces_are_joined_by_their_scores(packing: Packing) -> None:
    tokenizer = tokenizer_of(Packed(packing.file()))
    assert tokenizer("the  oll")["input_ids"] == [0, 4, 5, 6, 2]
    assert tokenizer("?")["input_ids"] == [0, 5, 3, 2]


def test_the_folder_is_an_encoder_with_prompts(packing: Packing, tmp_path: Path) -> None:
    file = tmp_path / "packed.bin"
    file.write_bytes(packing.file())
    folder = tmp_path / "e5"
    unpack(file, folder)
    encoder = Encoder(str(folder))
    assert encoder.prompt("query") == PROMPTS["query"]
    [vector] = encoder.encode(["the oll"])

    tokens = tokenizer_of(Packed(packing.file()))(PROMPTS["document"] + "the oll")["input_ids"]
    mean = plainly(tokens, packing.tensors).mean(0)
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-4)
    assert SentenceTransformer(str(folder), device="cpu").max_seq_length == POSITIONS


def test_where_it_is_not_here_both_ways_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "writable", lambda: tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        InputError, match=r"intfloat/multilingual-e5-small.*kit data fetch e5-small"
    ):
        Encoder("e5-small").expect_model()


@pytest.mark.model
def test_the_published_one_knows_who_says_the_same(e5_small: str) -> None:
    encoder = Encoder(e5_small)
    questions = encoder.encode(["Which river floods the town?"], role="query")
    passages = ["Der Fluss überschwemmt die Stadt.", "Река затопляет город.", "She sings."]
    same, also, other = encoder.encode(passages) @ questions[0]
    assert min(same, also) > other > 0.7  # of any two texts the cosine is high
