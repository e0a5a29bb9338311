"""One way to learn: what was trained is kept, and found again where code, settings and data are the same.

No recipe number stands in a key: it holds a digest of the code that trains, so that weights which
other code made are never taken for these.
"""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.fingerprint import code_digest
from kit.learning.training import Slot, read_history
from kit.settings import BaseSettings
from kit.store import Store, content_key


class Trained:
    """What learns from a benchmark, once.

    A subclass names the ``kind`` of folder in the store, and says which ``training_settings`` and
    what else its training depends on (:meth:`key_parts`), how it learns (:meth:`train`), and what
    it makes of the kept weights (:meth:`restore`). ``history`` then tells how the training went.
    """

    kind: ClassVar[str]
    #: The settings that training depends on; what only matters for retrieval is not among them.
    training_settings: ClassVar[tuple[str, ...]] = ()

    name: str
    settings: BaseSettings
    store: Store
    history: Sequence[dict[str, float]] = ()

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train``, choose on ``benchmark.dev``; or find what was learned.

        Raises :class:`InputError` where there is too little to learn from.
        """
        self.expect_training(benchmark)
        data = benchmark.without_test().hash
        folder = self.find_or_train(data, lambda slot: self.train(benchmark, slot))
        self.history = tuple(read_history(folder))
        self.restore(folder)

    def find_or_train(self, data: str, train: Callable[[Slot], Path]) -> Path:
        """The folder of what was learned from this data, which ``train`` makes if it is not there."""
        settings = [getattr(self.settings, name) for name in self.training_settings]
        key = content_key(
            code_of(type(self)),
            self.name,
            msgspec.json.encode(settings).decode(),
            *self.key_parts(),
            data,
        ).hex()
        slot = Slot(self.store, self.kind, key)
        return self.store.get_or_make(self.kind, key, lambda: train(slot))

    # ---- what a subclass says

    def expect_training(self, benchmark: Benchmark) -> None:
        """Raise :class:`InputError` where a benchmark is not enough to learn from."""

    def key_parts(self) -> Sequence[str]:
        """What training depends on beside code, settings and data, such as an encoder's identity."""
        return ()

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
    """A digest of the code of a class, its bases, and all of the kit that their files import."""
    modules = [base.__module__ for base in kind.__mro__]
    own_code = [
        inspect.getsource(base)
        for base in kind.__mro__
        if base is not object and not base.__module__.startswith("kit.")
    ]
    return content_key(code_digest(*modules), *own_code).hex()
