"""The committed planner, which learns on worlds of the atlas's generator from other seeds.

So no name is shared. Which epoch is kept is chosen on the dev questions of the embedded atlas; its
test questions play no part.
"""

import json
import shutil
from pathlib import Path
from random import Random

import click
import pandas as pd

from kit.learning.training import one_thread, read_history
from kit.methods.loops.agents import agent_of
from kit.methods.loops.small_plan import PLANNER
from kit.paths import ROOT
from kit.text.placeholders import EntityLinker
from kit.worlds import atlas
from kit.worlds.planner.learn import Learning, Pair, Pairs, SmallT5, by_epoch
from kit.worlds.planner.measure import right_steps
from kit.worlds.planner.pairs import NO_FACT, fact_pairs, plan_pair

SEEDS = range(201, 209)  # of the worlds that are learned from
QUESTIONS = 3_000  # of each world
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
SHARE = 0.05  # of the pairs, from which another planner learns to see what more are worth
FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
)


def pairs_of(
    world: atlas.Atlas,
    rng: Random | None = None,
) -> tuple[list[Pair], list[Pair]]:
    """Pairs about plans and pairs about facts.

    Plans are of a world's training questions or, without ``rng``, of its dev questions.
    """
    linker = EntityLinker(world.benchmark.corpus)
    questions = world.benchmark.train if rng else world.benchmark.dev
    plans = [plan_pair(question, linker, rng) for question in questions]
    facts = dict.fromkeys(fact_pairs(world, linker))
    return [pair for pair in plans if pair], list(facts)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / PLANNER)
@click.option(
    "--worlds",
    default=len(SEEDS),
    show_default=True,
    help="how many worlds of 3,000 questions",
)
@click.option("--epochs", default=Learning().epochs, show_default=True, help="times through them")
def main(folder: Path, worlds: int, epochs: int) -> None:
    """Train the planner anew into FOLDER, by default where the committed one lies."""
    learner = SmallT5(WORDS, SHAPE, Learning(epochs=epochs))
    pairs, dev = learned_pairs(worlds)
    with one_thread():
        learned = learner.learn(pairs, dev)
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            shutil.copyfile(learned / name, folder / name)
        history = by_epoch(read_history(learned))
        (folder / "history.json").write_text(json.dumps(history), "utf-8")
        learning_curve(
            folder,
            pairs,
            dev,
            learner,
        )

    n_bytes = sum(file.stat().st_size for file in folder.glob("*.*"))
    click.echo(f"{folder}: {n_bytes / 1e6:.1f} MB")


def learned_pairs(worlds: int) -> tuple[list[Pair], list[Pair]]:
    """What the planner learns from and what chooses its epoch.

    It learns from plans and facts of so many worlds.
    """
    rng = Random(0)
    pairs = []
    for seed in SEEDS[:worlds]:
        world = atlas.build(
            seed,
            train=QUESTIONS,
            dev=0,
            test=0,
        )
        plans, facts = pairs_of(world, rng)
        pairs += plans
        for index, pair in enumerate(facts):
            # Of the many sentences that state nothing half is enough.
            if pair[1] != NO_FACT or index % 2:
                pairs.append(pair)

    plans, facts = pairs_of(atlas.build())
    telling = [pair for pair in facts if pair[1] != NO_FACT]
    dev = plans + rng.sample(telling, DEV_FACTS)
    return list(dict.fromkeys(pairs)), dev


def learning_curve(
    folder: Path,
    pairs: Pairs,
    dev: Pairs,
    learner: SmallT5,
) -> None:
    """Write ``learning.csv``: what more pairs are worth (RAS, Figure 3).

    It says how right the planner in the folder is about each test question of the atlas, and one
    that learned from a share of its pairs; ``action`` and ``step`` are shares of a question's
    steps.
    """
    mixed = Random(0).sample(pairs, len(pairs))
    n_pairs = round(SHARE * len(mixed))
    other = learner.learn(mixed[:n_pairs], dev)

    embedded = atlas.build().benchmark
    parts = []
    for share, learned in ((SHARE, other), (1.0, folder)):
        planner = agent_of(f"t5:{learned}", embedded.corpus)
        steps = right_steps(planner, embedded.test)
        right = steps.groupby("question")[["action", "step"]].mean()
        parts.append(right.reset_index().assign(share=share))
    pd.concat(parts).to_csv(
        folder / "learning.csv",
        index=False,
        float_format="%.3g",
    )
