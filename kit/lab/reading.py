"""What a run of a notebook reads, at which scale."""

import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import numpy as np
from numpy.random import default_rng

from kit.corpus import (
    Benchmark,
    Question,
    document_pools,
    load,
    load_training,
    single_facts,
)
from kit.corpus.types import Questions
from kit.paths import ROOT
from kit.settings import BaseSettings, Positive, Whole
from kit.worlds import generated


def _read_scales() -> dict[str, SimpleNamespace]:
    """A limit that a scale does not name is None: no limit."""
    tables = tomllib.loads(Path(__file__).with_name("scales.toml").read_text("utf-8"))
    limits = {"n_questions": None, "n_judged": None, "n_costly": None}
    limits |= {"n_training": None, "n_dev": None}
    return {name: SimpleNamespace(**(limits | table)) for name, table in tables.items()}


#: Each scale by its name, with a number of ``scales.toml`` as an attribute.
SCALES = _read_scales()


class Run(BaseSettings, frozen=True):
    """The options of every run."""

    data: Annotated[
        str | None,
        "a published file; a relative path is looked for from the working folder, then from the "
        "project's; empty for the atlas in the size of the scale",
    ] = None
    train: Annotated[
        str | None, "another file to learn from; empty for the data's own training questions"
    ] = None
    scale: Annotated[Literal["smoke", "class", "paper"], "the size of the experiment"] = "class"
    seed: Annotated[Whole, "where random choices start from"] = 0
    n_questions: Annotated[Positive | None, "overrides the scale's"] = None
    setting: Annotated[
        str,
        "pooled, per-question, facts; or closed: each question over passages of its own, of the "
        "atlas single facts, else its paragraphs",
    ] = "pooled"

    def read(self, *, transductive: bool = False) -> tuple[Benchmark, Benchmark | None]:
        """What is searched, and what is learned from: None where there is nothing.

        ``transductive``: what learns from another file may know the passages that are searched,
        too. Raises ``InputError``.
        """
        data = find_data(self.data)
        train = find_data(self.train)
        setting = self.setting
        if setting == "closed":
            setting = "per-question" if data else "facts"

        if data or SCALES[self.scale].atlas == "class":
            benchmark = load(data, setting=setting)
        else:
            benchmark = self._atlas(setting)

        if train:
            searched = [data] if transductive and data else []
            training = load_training([train], setting=setting, corpus=searched)
            return benchmark, self._limited(training)
        return benchmark, self._limited(benchmark.without_test()) if benchmark.train else None

    def _limited(self, training: Benchmark) -> Benchmark:
        """What is learned from, as far as the scale allows."""
        scale = SCALES[self.scale]
        train = sample(training.train, scale.n_training, self.seed)
        dev = sample(training.dev, scale.n_dev, self.seed)
        return replace(training, train=train, dev=dev)

    def _atlas(self, setting: str) -> Benchmark:
        """The atlas in the size of the scale."""
        benchmark = generated("atlas", size=SCALES[self.scale].atlas)
        if setting == "per-question":
            return document_pools(benchmark)
        return single_facts(benchmark) if setting == "facts" else benchmark

    def folder(self, benchmark: Benchmark, trial: bool = False) -> str:
        """Where results go, under ``figures/`` and ``notebooks/executed/``.

        Only a whole run at scale ``class`` bears the data set's own name: no other can be
        published.
        """
        if self.scale != "class":
            return f"{benchmark.name}-{self.scale}"

        # `closed` is a notebook's own choice.
        setting = "closed" if self.setting == "closed" else "pooled"
        usual = Run(data=self.data, train=self.train, scale=self.scale, setting=setting)
        learns_elsewhere = bool(self.train and benchmark.train)
        if trial or self != usual or learns_elsewhere:
            return f"{benchmark.name}-trial"
        return benchmark.name


def find_data(data: str | None) -> Path | None:
    """The file that is meant; None for the atlas."""
    if not data:
        return None
    return next((path for path in (Path(data), ROOT / data) if path.exists()), Path(data))


def sample(questions: Questions, n: int | None, seed: int) -> tuple[Question, ...]:
    """n questions, each hop count in its share, in the order given; all if there are no more."""
    if n is None or n >= len(questions):
        return tuple(questions)
    order = default_rng(seed).permutation(len(questions))
    by_hops = sorted(order, key=lambda i: questions[i].hops)
    evenly = np.arange(n) * len(questions) // n
    return tuple(questions[i] for i in sorted(by_hops[i] for i in evenly))
