"""One way to learn: what was trained is kept, and found again by code, settings and data.

No recipe number stands in a key: it holds a digest of the code that trains, so that weights which
other code made are never taken for these.
"""

import inspect
import logging
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import ClassVar

import msgspec

from kit.corpus import Benchmark
from kit.corpus.types import Strings, Texts
from kit.errors import InputError
from kit.fingerprint import code_digest
from kit.learning.training import History, Slot, read_history
from kit.settings import BaseSettings
from kit.store import Store, content_key
from kit.text import Encoder, EncoderSettings

_LOG = logging.getLogger(__name__)


class Trained:
    """What learns from a benchmark, once.

    A subclass names the ``kind`` of folder in the store, and says which ``training_settings`` and
    what else its training depends on (:meth:`key_parts`), how it learns (:meth:`train`), and what
    it makes of the kept weights (:meth:`restore`). ``history`` then tells how the training went.
    """

    kind: ClassVar[str]
    #: The settings that training depends on; what only matters for retrieval is not among them.
    training_settings: ClassVar[Strings] = ()

    name: str
    settings: BaseSettings
    store: Store | None = None  # where it is kept; by default the usual one
    history: History = ()

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train``, choose on ``benchmark.dev``; or find what was learned.

        Raises :class:`InputError` where there is too little to learn from.
        """
        self.expect_training(benchmark)
        folder = self.find_or_train(
            self.data_key(benchmark), lambda slot: self.train(benchmark, slot)
        )
        self.history = tuple(read_history(folder))
        self.restore(folder)

    def find_or_train(self, data: str, train: Callable[[Slot], Path]) -> Path:
        """The folder of what was learned from this data; ``train`` makes it if it is not there."""
        settings = [getattr(self.settings, name) for name in self.training_settings]
        key = content_key(
            code_of(type(self)),
            self.name,
            msgspec.json.encode(settings).decode(),
            *self.key_parts(),
            data,
        ).hex()
        slot = Slot(self.store or Store(), self.kind, key)

        def make() -> Path:
            _LOG.info(
                "%s is trained: nothing in %s was learned by these settings, data and code",
                self.name,
                slot.store.folder,
            )
            return train(slot)

        return slot.store.get_or_make(self.kind, key, make)

    # ---- what a subclass says

    def expect_training(self, benchmark: Benchmark) -> None:
        """Raise :class:`InputError` where a benchmark is not enough to learn from."""

    def key_parts(self) -> Texts:
        """What training depends on beside code, settings and data: the encoder that is set."""
        if isinstance(self.settings, EncoderSettings):
            return [Encoder(**self.settings.of_encoder()).identity]
        return ()

    def data_key(self, benchmark: Benchmark) -> str:
        """What identifies the data; a subclass may add what it makes of them, such as triples."""
        return benchmark.without_test().hash

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Learn, keep the weights in ``slot`` and return their folder; ``self`` stays as it is."""
        raise NotImplementedError

    def restore(self, folder: Path) -> None:
        """Become what was learned, by the folder in which it is kept."""
        raise NotImplementedError

    def expect_fit(self) -> None:
        """Raise :class:`InputError` where nothing was learned yet."""
        if not self.history:
            raise InputError(f"{self.name} has learned nothing yet: call fit(benchmark) first")


def code_of(kind: type) -> str:
    """A digest of the code of a class, its bases, and all of the kit that their files import.

    Of a class that is not the kit's, such as one of a notebook, its methods count.
    """
    modules = [base.__module__ for base in kind.__mro__]
    instructions = []
    for base in kind.__mro__:
        if not base.__module__.startswith("kit."):
            for function in filter(inspect.isfunction, vars(base).values()):
                instructions.append(repr(_instructions(function.__code__)))
    return content_key(code_digest(*modules), *instructions).hex()


def _instructions(code: CodeType) -> tuple[object, ...]:
    """What a function does, whatever its file and lines are."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_instructions(constant))
        elif isinstance(constant, frozenset):
            constants.append(sorted(map(repr, constant)))
        else:
            constants.append(constant)
    return code.co_code, code.co_names, constants
