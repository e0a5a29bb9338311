"""A T5 small enough to be trained from nothing on one core: the offline default of the agent that writes evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kit.corpus import load
from kit.corpus.atlas import generate
from kit.store import Store, content_key
from kit.text.language_models.evidence import Finetuning, train_evidence_writer
from kit.text.language_models.names import PLACEHOLDERS, common_words
from kit.text.language_models.sequence_to_sequence import SequenceToSequence

KIND = "new-models"  # in the store
#: How the atlas teaches: beside its own training questions those of other invented worlds, of the seeds 1, 2 …
WORLDS = 11
TRAINING = Finetuning(epochs=2, batch=32, learning_rate=4e-3, longest_prompt=160, longest_answer=20)
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
    key = content_key(msgspec.json.encode(shape).decode(), *words).hex()
    folder = store.get_folder(KIND, key) or store.put_folder(KIND, key, lambda to: _write(to, words, shape))
    return SequenceToSequence(str(folder), store=store)


def atlas_t5(store: Store | None = None) -> SequenceToSequence:
    """The T5 that has learned from the atlas to write the next evidence; eleven minutes of one core the first time.

    The training questions of the atlas and of ``WORLDS`` others (same phrasings, other names and facts) give 23,000
    pairs, those of the atlas alone 1,900. Two epochs are little for a model that starts from nothing: on the atlas' dev
    questions the next support is found among the TF-IDF neighbours of the last with a mean reciprocal rank of 0.16 by
    what it writes, 0.18 by the question, and 0.20 by both together (145 steps).
    """
    atlas, worlds = load(), [generate(seed=seed) for seed in range(1, WORLDS + 1)]
    # Six corpora have every word that is common enough to be learned.
    texts = [passage.full_text for each in (atlas, *worlds[:5]) for passage in each.corpus.passages]
    texts += [question.text for each in (atlas, *worlds) for question in each.train]
    return train_evidence_writer(new_t5(texts, store=store), atlas, TRAINING, worlds)


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
