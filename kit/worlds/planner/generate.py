"""The committed planner: it learns on worlds made by the atlas's generator from other seeds, so no name is shared.

Which epoch is kept is chosen on the dev questions of the embedded atlas; its test questions play no part.
"""

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import click
import pandas as pd

from kit.learning.training import read_history
from kit.methods.loops.agents import PLANNER, agent_of
from kit.paths import ROOT
from kit.text.placeholders import EntityLinker
from kit.worlds.planner.learn import Learning, Pair, by_epoch, learn
from kit.worlds.planner.measure import right_steps
from kit.worlds.planner.pairs import atlas, fact_pairs, plan_pair

SEEDS = range(201, 209)  # of the worlds that are learned from
WORLD = {"size": "class", "train": 3_000, "dev": 0, "test": 0}
SHAPE = {
    "d_model": 128,
    "d_kv": 32,
    "d_ff": 256,
    "num_heads": 4,
    "num_layers": 2,
    "num_decoder_layers": 2,
}
WORDS = 2_500
DEV_FACTS = 400
SHARES = (
    0.05,
)  # of the pairs, from which planners learn anew only to see what more of them are worth
FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
)


def pairs_of(world, rng: random.Random | None = None) -> tuple[list, list]:
    """Pairs about plans, of a world's training questions or, without ``rng``, of its dev questions; and about facts."""
    linker = EntityLinker(world.benchmark.corpus)
    asked = world.benchmark.train if rng else world.benchmark.dev
    plans = [pair for question in asked if (pair := plan_pair(question, linker, rng))]
    facts = list(dict.fromkeys(fact_pairs(world, linker)))
    return plans, facts


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / PLANNER)
@click.option(
    "--worlds", default=len(SEEDS), show_default=True, help="how many worlds of 3,000 questions"
)
@click.option("--epochs", default=Learning().epochs, show_default=True, help="times through them")
def main(folder: Path, worlds: int, epochs: int) -> None:
    """Train the planner anew into FOLDER, by default where the committed one lies."""
    import torch

    torch.set_num_threads(1)  # for tensors as small as these, threads wait more than they work
    pairs, dev, settings = *learned_pairs(worlds), Learning(epochs)
    learned = learn(pairs, dev, WORDS, SHAPE, settings)
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(learned / name, folder / name)
    (folder / "history.json").write_text(json.dumps(by_epoch(read_history(learned))), "utf-8")
    learning_curve(folder, pairs, dev, settings)
    click.echo(f"{folder}: {sum(file.stat().st_size for file in folder.glob('*.*')) / 1e6:.1f} MB")


def learned_pairs(worlds: int) -> tuple[list[Pair], list[Pair]]:
    """What the planner learns from, plans and facts of so many worlds, and what chooses its epoch."""
    rng, pairs = random.Random(0), []
    for seed in SEEDS[:worlds]:
        plans, facts = pairs_of(atlas.build(seed, **WORLD), rng)
        # Of the many sentences that state nothing half is enough.
        pairs += plans + [
            pair for number, pair in enumerate(facts) if pair[1] != "none" or number % 2
        ]
    plans, facts = pairs_of(atlas.build())
    told = [pair for pair in facts if pair[1] != "none"]
    return list(dict.fromkeys(pairs)), plans + rng.sample(told, DEV_FACTS)


def learning_curve(
    folder: Path, pairs: Sequence[Pair], dev: Sequence[Pair], settings: Learning
) -> None:
    """Write ``learning.csv``: how right the planner in the folder is about each test question of the atlas, and others
    that learned from shares of its pairs (ras.txt, Figure 3); ``action`` and ``step`` are shares of a question's steps.
    """
    mixed, embedded, parts = random.Random(0).sample(pairs, len(pairs)), atlas.build().benchmark, []
    folders = {
        share: learn(mixed[: round(share * len(mixed))], dev, WORDS, SHAPE, settings)
        for share in SHARES
    }
    for share, learned in (folders | {1.0: folder}).items():
        planner = agent_of(f"t5:{learned}", embedded.corpus)
        right = right_steps(planner, embedded.test).groupby("question")[["action", "step"]].mean()
        parts.append(right.reset_index().assign(share=share))
    pd.concat(parts).to_csv(folder / "learning.csv", index=False, float_format="%.3g")
