"""The committed planner: it learns on worlds made by the atlas's generator from other seeds, so no name is shared.

Which epoch is kept is chosen on the dev questions of the embedded atlas; its test questions play no part.
"""

import json
import random
import shutil
from pathlib import Path

import click

from kit.paths import ROOT
from kit.retrievers.agents import PLANNER
from kit.text.placeholders import EntityLinker
from kit.text.training import read_history

from .learn import Learning, by_epoch, learn
from .pairs import atlas, fact_pairs, plan_pair

SEEDS = range(201, 209)  # of the worlds that are learned from
WORLD = {"size": "class", "train": 3_000, "dev": 0, "test": 0}
SHAPE = {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_heads": 4, "num_layers": 2, "num_decoder_layers": 2}
WORDS = 2_500
DEV_FACTS = 400
FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


def pairs_of(world, rng: random.Random | None = None) -> tuple[list, list]:
    """Pairs about plans, of a world's training questions or, without ``rng``, of its dev questions; and about facts."""
    linker = EntityLinker(world.benchmark.corpus)
    asked = world.benchmark.train if rng else world.benchmark.dev
    plans = [pair for question in asked if (pair := plan_pair(question, linker, rng))]
    facts = list(dict.fromkeys(fact_pairs(world, linker)))
    return plans, facts


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / PLANNER)
@click.option("--worlds", default=len(SEEDS), show_default=True, help="how many worlds of 3,000 questions")
@click.option("--epochs", default=Learning().epochs, show_default=True, help="times through them")
def main(folder: Path, worlds: int, epochs: int) -> None:
    """Train the planner anew into FOLDER, by default where the committed one lies."""
    import torch

    torch.set_num_threads(1)  # for tensors as small as these, threads wait more than they work
    rng, pairs = random.Random(0), []
    for seed in SEEDS[:worlds]:
        plans, facts = pairs_of(atlas.build(seed, **WORLD), rng)
        # Of the many sentences that state nothing half is enough.
        pairs += plans + [pair for number, pair in enumerate(facts) if pair[1] != "none" or number % 2]
    pairs = list(dict.fromkeys(pairs))
    plans, facts = pairs_of(atlas.build())
    told = [pair for pair in facts if pair[1] != "none"]
    learned = learn(pairs, plans + rng.sample(told, DEV_FACTS), WORDS, SHAPE, Learning(epochs))
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(learned / name, folder / name)
    (folder / "history.json").write_text(json.dumps(by_epoch(read_history(learned))), "utf-8")
    click.echo(f"{folder}: {sum(file.stat().st_size for file in folder.glob('*.*')) / 1e6:.1f} MB")
