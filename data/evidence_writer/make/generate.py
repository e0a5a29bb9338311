"""The committed writer: a small T5 learns from nothing to write evidence about invented encyclopedias.

They are not the atlas, but made by its generator from other seeds. Which epoch is kept is chosen on the dev questions
of the embedded atlas; its test questions play no part.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import numpy as np

from kit.corpus import Benchmark, generated, load, load_training
from kit.errors import InputError
from kit.paths import ROOT
from kit.store import Store, content_key
from kit.text.language_models import EVIDENCE_WRITER, PLACEHOLDERS, TOKEN, SequenceToSequence, language_model
from kit.text.training import History, read_history

from .learn import Finetuning, finetune
from .pairs import evidence_pairs

SEEDS = (101, 102, 103, 104)  # of the worlds that are learned from
WORLD = {"size": 2_114, "train": 2_500}
SETTINGS = Finetuning(epochs=6, batch=16, learning_rate=2e-3, longest_prompt=256)
SHAPE = {"d_model": 96, "d_kv": 32, "d_ff": 288, "num_heads": 3, "num_layers": 2, "num_decoder_layers": 2}
WORDS = 2_500
LEARNING_RATE = 3e-4  # of fine-tuning
FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
_PAD, _END, _UNKNOWN = "<pad>", "</s>", "<unk>"


def new_t5(
    texts: Sequence[str],
    words: int = WORDS,
    shape: dict[str, int] = SHAPE,
    seed: int = 0,
    store: Store | None = None,
    *,
    numbered_names: bool = True,
) -> SequenceToSequence:
    """A T5 with random weights, whose words are the most frequent of ``texts``. Found again in the store.

    With ``numbered_names`` it numbers the names of a prompt itself: see :class:`kit.text.language_models.Names`.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    store, known = store or Store(), common_words(texts, words)
    key = content_key("3", json.dumps([shape, seed, numbered_names]), *known).hex()

    def write(folder: Path) -> None:
        vocabulary = {word: number for number, word in enumerate([_PAD, _END, _UNKNOWN, *PLACEHOLDERS, *known])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {_END}", special_tokens=[(_END, 1)])
        names = {"pad_token": _PAD, "eos_token": _END, "unk_token": _UNKNOWN}
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
        about = {"vocab_size": len(vocabulary), "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
        config = T5Config(
            dropout_rate=0.05, feed_forward_proj="gated-gelu", numbered_names=numbered_names, **about, **shape
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            T5ForConditionalGeneration(config).save_pretrained(folder)

    folder = store.get_folder("new-models", key) or store.put_folder("new-models", key, write)
    return SequenceToSequence(str(folder), store=store)


def common_words(texts: Iterable[str], most: int) -> list[str]:
    """The most frequent tokens of the texts, words only if they occur in lower case at least twice; no years."""
    counts = Counter(token for text in texts for token in TOKEN.findall(text) if token == token.lower())
    ordered = sorted((-count, token) for token, count in counts.items() if count > 1)
    return [token for _, token in ordered if not (token.isdecimal() and len(token) == 4)][:most]


def learn_from(
    base: SequenceToSequence, benchmark: Benchmark, settings: Finetuning, more: Sequence[Benchmark] = ()
) -> SequenceToSequence:
    """Fine-tune ``base`` on the training questions of all benchmarks, chosen on the dev questions of the first.

    Raises :class:`InputError` where there is no question to train on or none in dev.
    """
    pairs = [pair for each in (benchmark, *more) for pair in evidence_pairs(each.train, each.corpus)]
    dev = evidence_pairs(benchmark.dev, benchmark.corpus)
    if not pairs or not dev:
        raise InputError("expected training questions and dev questions (--train FILE)", record=benchmark.name)
    return finetune(base, pairs, dev, settings)


def by_epoch(history: History) -> list[dict[str, float]]:
    """A row an epoch: the mean loss of its batches, and the loss on dev after it, in nats a token."""
    _, *measured = (-row["log_likelihood"] for row in history if "loss" not in row)
    losses = np.array_split([row["loss"] for row in history if "loss" in row], len(measured))  # epochs are as long
    rows = enumerate(zip(losses, measured), start=1)
    return [{"epoch": epoch, "loss": float(np.mean(of)), "dev_loss": dev_loss} for epoch, (of, dev_loss) in rows]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / EVIDENCE_WRITER)
@click.option("--base", help="fine-tune this model, t5:FOLDER-OR-NAME, in place of a new one")
@click.option("--train", "files", type=click.Path(path_type=Path), multiple=True, help="questions to fine-tune it on")
@click.option("--epochs", default=Finetuning().epochs, show_default=True, help="times through them at most")
@click.option("--seed", default=0, show_default=True, help="where random choices start from")
def main(folder: Path, base: str | None, files: tuple[Path, ...], epochs: int, seed: int) -> None:
    """Train the writer of evidence anew into FOLDER, by default where the committed one lies.

    With --base another sequence-to-sequence model is fine-tuned on the questions of --train FILE or the atlas's, and
    chosen on their dev questions: KGP walks with it by ``--set writer=t5:FOLDER``.
    """
    import torch

    if base is None:
        torch.set_num_threads(1)  # for tensors as small as these, threads wait more than they work
        worlds = [generated("atlas", seed=seed, **WORLD) for seed in SEEDS]
        texts = [passage.full_text for world in worlds for passage in world.corpus.passages]
        texts += [question.text for world in worlds for question in world.train]
        atlas = load()
        chosen_on = Benchmark(atlas.name, atlas.corpus, dev=atlas.dev)
        model = learn_from(new_t5(texts), chosen_on, SETTINGS, more=worlds)  # an hour and a half of a core
    else:
        given = language_model(base)
        if not isinstance(given, SequenceToSequence):
            raise InputError(f"expected t5:FOLDER-OR-NAME to be trained, not {base!r}", field="base")
        settings = Finetuning(epochs=epochs, learning_rate=LEARNING_RATE, seed=seed)
        model = learn_from(given, load_training(files) if files else load(), settings)
    click.echo(save(model, folder, FILES if base is None else ()))


def save(model: SequenceToSequence, folder: Path, files: Sequence[str] = ()) -> str:
    """Copy the model's ``files``, by default all, with the history of its training into a folder; tells its size."""
    written = Path(model.model_name)
    folder.mkdir(parents=True, exist_ok=True)
    for file in [file for file in written.iterdir() if file.name in files or not files]:
        shutil.copyfile(file, folder / file.name)
    (folder / "history.json").write_text(json.dumps(by_epoch(read_history(written))), "utf-8")
    return f"{folder}: {sum(file.stat().st_size for file in folder.glob('*.*')) / 1e6:.1f} MB"
