"""The committed evidence writer, made anew: ``python -m kit.text.language_models.atlas_writer``.

A small T5 learns from nothing to write evidence about invented encyclopedias that are not the atlas (other seeds of its
generator). Which epoch is kept is chosen on the dev questions of the embedded atlas; its test questions play no part.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from kit.corpus import Benchmark, generated, load
from kit.paths import ROOT
from kit.text.language_models import EVIDENCE_WRITER
from kit.text.language_models.evidence import Finetuning, train_evidence_writer
from kit.text.language_models.sequence_to_sequence import SequenceToSequence
from kit.text.language_models.small_t5 import Shape, new_t5

SEEDS = (101, 102, 103, 104)  # of the worlds that are learned from
WORLD = {"size": 2_114, "train": 2_500}
SHAPE = Shape(words=2500)
SETTINGS = Finetuning(epochs=6, batch=16, learning_rate=2e-3, longest_prompt=256)


def train() -> SequenceToSequence:
    """The trained writer, found again in the store: an hour and a half of a core the first time."""
    worlds = [generated("atlas", seed=seed, **WORLD) for seed in SEEDS]
    texts = [passage.full_text for world in worlds for passage in world.corpus.passages]
    texts += [question.text for world in worlds for question in world.train]
    atlas = load()
    chosen_on = Benchmark(atlas.name, atlas.corpus, dev=atlas.dev)
    return train_evidence_writer(new_t5(texts, SHAPE), chosen_on, SETTINGS, more=worlds)


def main() -> None:
    import torch

    torch.set_num_threads(1)  # for tensors as small as these, threads wait more than they work
    written, kept = Path(train().model_name), ROOT / EVIDENCE_WRITER
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "history.json"):
        shutil.copyfile(written / name, kept / name)
    shutil.copyfile(written / "model.safetensors", kept / "model.safetensors")
    print(f"{kept}: {sum(file.stat().st_size for file in kept.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
