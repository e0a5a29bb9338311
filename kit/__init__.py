"""Graph-based retrieval for multi-hop question answering: teach, explore, regenerate.

What one needs first::

    import kit

    benchmark = kit.load("dev.json")              # or kit.load(): the embedded atlas
    gnn_ret = kit.make("gnn-ret", top_k=10)       # help(kit.method("gnn-ret")) lists its settings
    experiment = kit.evaluate(["bm25", "dense"], benchmark)
    kit.ask("Where was the director born?", benchmark.corpus, method="bm25")

Each is loaded when it is first used.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

# Threads that wait for each other sleep. By default they spin for long, and beside another busy
# process a step of training takes twice as long. OpenMP reads this once, when torch or faiss is
# loaded. `kit run` sets it for its notebooks, too.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # of all runtimes
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # turns, of GNU's: on two threads a sixth quicker
os.environ.setdefault("KMP_BLOCKTIME", "0")  # of LLVM's and Intel's, which wait 200 ms all the same

__version__ = "0.1.0"

if TYPE_CHECKING:  # for editors; loaded by `__getattr__`
    from kit.corpus import Benchmark as Benchmark
    from kit.corpus import Corpus as Corpus
    from kit.corpus import Passage as Passage
    from kit.corpus import Query as Query
    from kit.corpus import Question as Question
    from kit.corpus import example as example
    from kit.corpus import load as load
    from kit.corpus import load_training as load_training
    from kit.errors import InputError as InputError
    from kit.evaluation import Experiment as Experiment
    from kit.evaluation import evaluate as evaluate
    from kit.graphs import PassageGraph as PassageGraph
    from kit.graphs import build as build
    from kit.lab.ask import ask as ask
    from kit.lab.sweep import sweep_retriever as sweep_retriever
    from kit.methods import Ranking as Ranking
    from kit.methods import Retriever as Retriever
    from kit.methods import make as make
    from kit.methods import method as method
    from kit.methods import register as register
    from kit.views import explore as explore
    from kit.worlds import generated as generated

_PLACES = {
    "kit.corpus": "Benchmark Corpus Passage Query Question example load load_training",
    "kit.errors": "InputError",
    "kit.evaluation": "Experiment evaluate",
    "kit.graphs": "PassageGraph build",
    "kit.lab.ask": "ask",
    "kit.lab.sweep": "sweep_retriever",
    "kit.methods": "Ranking Retriever make method register",
    "kit.views": "explore",
    "kit.worlds": "generated",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'kit' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
