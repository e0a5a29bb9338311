"""The committed planner: it learns on worlds made by the atlas's generator from other seeds, so no name is shared.

Which epoch is kept is chosen on the dev questions of the embedded atlas; its test questions play no part.
"""

import random
from pathlib import Path

import click
import msgspec

from kit.corpus.generating import generator
from kit.paths import ROOT
from kit.retrievers.agents import LONGEST_PLAN, PLANNER
from kit.text.placeholders import EntityLinker

from .pairs import atlas, fact_pairs, plan_pair

writer = generator("evidence-writer")
SEEDS = range(201, 209)  # of the worlds that are learned from
WORLD = {"size": "class", "train": 3_000, "dev": 0, "test": 0}
SETTINGS = writer.Finetuning(epochs=11, batch=32, learning_rate=2e-3, longest_prompt=256, longest_answer=LONGEST_PLAN)
SHAPE = {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_heads": 4, "num_layers": 2, "num_decoder_layers": 2}
WORDS = 2_500
DEV_FACTS = 400


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
@click.option("--epochs", default=SETTINGS.epochs, show_default=True, help="times through them")
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
    base = writer.new_t5([text for pair in pairs for text in pair], WORDS, SHAPE, numbered_names=False)
    dev = plans + rng.sample(told, DEV_FACTS)
    model = writer.finetune(base, pairs, dev, msgspec.structs.replace(SETTINGS, epochs=epochs))
    click.echo(writer.save(model, folder, writer.FILES))
