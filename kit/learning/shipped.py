"""Networks that come with the kit: they learned on invented worlds, and ``fit`` tunes them.

``kit data make networks`` makes them (:mod:`kit.worlds.networks`); each lies in a folder of
``data/networks`` by the name of its method.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from safetensors.torch import save_file

from kit.corpus import Benchmark
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.learning.trained import Trained
from kit.learning.training import HISTORY, Slot, Weights, read_history, read_weights
from kit.paths import NETWORKS
from kit.store import file_digest
from kit.text.encoder import DEFAULT_ENCODER

Benchmarks = Sequence[Benchmark]
#: Where a network begins, a setting of every :class:`Shipped` method.
Start = Annotated[
    Literal["worlds", "untrained"],
    "begin with the weights that were learned on other worlds, or anew",
]


class Shipped(Trained):
    """A network that is of use as it comes: weights that were learned on worlds stand ready.

    A subclass is a retriever with a setting ``start: Start = "worlds"``. Its :meth:`restore` takes
    the kit's weights as those of its own training, and leaves them in ``learned``. Its
    :meth:`train` begins with ``learned``, or anew where that is None.
    """

    #: Whether the weights belong to the vectors of the default encoder.
    is_of_one_encoder: bool = True

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._begin()

    def _begin(self) -> None:
        """Be as the method comes: what was learned since, if anything, is forgotten."""
        self.learned = None
        self.history = ()
        if self.settings.start == "worlds":
            self._expect_encoder()
            self.history = tuple(read_history(self.shipped_folder))
            self.restore(self.shipped_folder)

    @property
    def shipped_folder(self) -> Path:
        """Where the kit keeps what this method learned on worlds."""
        return NETWORKS / self.name

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train``, choose on ``benchmark.dev``; or find what was learned.

        With the weights of the worlds and no training questions these are what it has. Raises
        :class:`InputError` where an untrained network has too little to learn from.
        """
        self.learn([benchmark])

    def learn(self, benchmarks: Benchmarks) -> Path:
        """As :meth:`fit` from several benchmarks, the questions of each over its own corpus.

        One without training questions only chooses, by those of its dev. Returns the folder of the
        weights.
        """
        teaching = [benchmark for benchmark in benchmarks if benchmark.train]
        if self.settings.start == "worlds" and not teaching:
            self._begin()
            return self.shipped_folder

        for benchmark in teaching or benchmarks:
            self.expect_training(benchmark)
        self._begin()
        folder = self.find_or_train(
            " ".join(map(self.data_key, benchmarks)),
            lambda slot: self.train(benchmarks, slot),
        )
        self.history = tuple(read_history(folder))
        self.restore(folder)
        return folder

    def ship(self, learned: Path, folder: Path) -> None:
        """Write what lies in ``learned`` so that it comes with the kit."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.small(read_weights(learned)), folder / "weights.safetensors")
        shutil.copyfile(learned / HISTORY, folder / HISTORY)

    def small(self, weights: Weights) -> Weights:
        """Weights as they come with the kit, by default as float16."""
        return {name: weight.half() for name, weight in weights.items()}

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        """As that of :class:`Trained`, on several benchmarks."""
        raise NotImplementedError

    def key_parts(self) -> Texts:
        """The weights that training begins with count, too."""
        parts = [self.settings.start, *super().key_parts()]
        if self.settings.start == "worlds":
            files = sorted(self.shipped_folder.glob("*.safetensors"))
            parts += map(file_digest, files)
        return parts

    def _expect_encoder(self) -> None:
        """Raise :class:`InputError` for an encoder that the kit's weights do not go with."""
        encoder = getattr(self.settings, "encoder", DEFAULT_ENCODER)
        if self.is_of_one_encoder and encoder != DEFAULT_ENCODER:
            raise InputError(
                f"the weights of {self.name} that come with the kit are for {DEFAULT_ENCODER}: "
                "for another encoder set start=untrained, and give questions to learn from",
                field="start",
            )
