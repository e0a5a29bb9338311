"""A T5 small enough to be trained from nothing on one core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kit.store import Store, content_key
from kit.text.language_models.names import PLACEHOLDERS, common_words
from kit.text.language_models.sequence_to_sequence import SequenceToSequence

KIND = "new-models"  # in the store
_RECIPE = "2"  # to be changed with what is not in Shape, so that a model made otherwise is not found again
_PAD, _END, _UNKNOWN = "<pad>", "</s>", "<unk>"


class Shape(msgspec.Struct, frozen=True):
    """The size of a T5: words, width, heads, layers of the encoder and as many of the decoder."""

    words: int = 2000
    width: int = 96
    heads: int = 3
    layers: int = 2
    seed: int = 0


def new_t5(texts: Sequence[str], shape: Shape | None = None, store: Store | None = None) -> SequenceToSequence:
    """A T5 with random weights, whose words are the most frequent of ``texts`` and whose names are numbers.

    Found again in the store by words and shape. See :mod:`kit.text.language_models.names`.
    """
    shape, store = shape or Shape(), store or Store()
    words = common_words(texts, shape.words)
    key = content_key(_RECIPE, msgspec.json.encode(shape).decode(), *words).hex()
    folder = store.get_folder(KIND, key) or store.put_folder(KIND, key, lambda to: _write(to, words, shape))
    return SequenceToSequence(str(folder), store=store)


def _write(folder: Path, words: Sequence[str], shape: Shape) -> None:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    vocabulary = {word: number for number, word in enumerate([_PAD, _END, _UNKNOWN, *PLACEHOLDERS, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {_END}", special_tokens=[(_END, 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=_PAD, eos_token=_END, unk_token=_UNKNOWN
    ).save_pretrained(folder)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=shape.width,
        d_kv=32,
        d_ff=3 * shape.width,
        num_heads=shape.heads,
        num_layers=shape.layers,
        num_decoder_layers=shape.layers,
        dropout_rate=0.05,
        feed_forward_proj="gated-gelu",
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        numbered_names=True,
    )
    with torch.random.fork_rng():
        torch.manual_seed(shape.seed)
        T5ForConditionalGeneration(config).save_pretrained(folder)
