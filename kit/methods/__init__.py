"""The methods, a room a paper, and the registry that finds them by name.

A method's room is opened when the method is asked for, so that BM25 waits for no neural network.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from textwrap import indent

from kit.errors import InputError
from kit.methods.base import Ranking, Retriever
from kit.settings import documentation

#: Each method by its name: the file that holds it, and its class. A new method is a line here.
METHODS: dict[str, str | type[Retriever]] = {
    "bm25": "kit.methods.baselines.classic:BM25",
    "tfidf": "kit.methods.baselines.classic:Tfidf",
    "dense": "kit.methods.baselines.classic:Dense",
    "knn": "kit.methods.baselines.classic:KNN",
    "gnn-ret": "kit.methods.gnn_ret.retriever:GNNRet",
    "rgnn-ret": "kit.methods.gnn_ret.recurrent:RGNNRet",
    "dpr": "kit.methods.baselines.dpr:DPR",
    "mdr": "kit.methods.baselines.mdr:MDR",
    "pagerank": "kit.methods.baselines.pagerank:PageRank",
    "qsgnn": "kit.methods.qsgnn.retriever:QSGNN",
    "bgr": "kit.methods.bgr.retriever:BGR",
    "ras": "kit.methods.ras.retriever:RAS",
    "selfask": "kit.methods.loops.loops:SelfAsk",
    "self-critique": "kit.methods.loops.loops:SelfCritique",
    "ircot": "kit.methods.loops.loops:IRCoT",
    "iter-retgen": "kit.methods.loops.loops:IterRetGen",
    "kgp-random": "kit.methods.kgp.agents:KGPRandom",
    "kgp-tfidf": "kit.methods.kgp.agents:KGPTfidf",
    "kgp-dense": "kit.methods.kgp.agents:KGPDense",
    "kgp-mdr": "kit.methods.kgp.agents:KGPMDR",
    "kgp-t5": "kit.methods.kgp.agents:KGPT5",
    "kgp-chat": "kit.methods.kgp.agents:KGPChat",
    "golden": "kit.methods.baselines.classic:Golden",
}


def method(name: str) -> type[Retriever]:
    """The class of a method by its name; ``help(kit.method("gnn-ret"))`` shows its settings.

    Raises :class:`InputError` for a name that does not exist.
    """
    if name not in METHODS:
        raise InputError(f"no retriever {name!r}; known are {', '.join(METHODS)}")
    registered = METHODS[name]
    if isinstance(registered, str):
        module, _, class_name = registered.partition(":")
        return getattr(import_module(module), class_name)
    return registered


class _Make:
    """Makes retrievers; its own documentation has the settings of all methods."""

    def __call__(self, name: str, **settings: object) -> Retriever:
        return method(name)(**settings)

    @property
    def __doc__(self) -> str:
        """Written when it is asked for, since that opens every method's room."""
        parts = [
            "A retriever by name, with settings: ``make('gnn-ret', top_k=10)``.",
            "Raises :class:`InputError` for a name, a setting or a value that does not exist.",
        ]
        for name in METHODS:
            described = documentation(method(name).Settings) or "no settings"
            parts.append(f"{name}\n" + indent(described, "    "))
        return "\n\n".join(parts)


make = _Make()


def make_all(names: Iterable[str], **settings: object) -> dict[str, Retriever]:
    """Several retrievers by name; a setting goes to those that have it.

    Raises :class:`InputError` where none has it.
    """
    settings_of = {name: method(name).defaults().keys() for name in names}
    unknown = settings.keys() - set().union(*settings_of.values())
    if unknown:
        listed = ", ".join(settings_of) or "none"
        raise InputError(f"no retriever of {listed} has a setting {min(unknown)!r}")

    retrievers = {}
    for name, setting_names in settings_of.items():
        chosen = {key: value for key, value in settings.items() if key in setting_names}
        retrievers[name] = make(name, **chosen)
    return retrievers


def register(retriever: type[Retriever]) -> type[Retriever]:
    """Let a method of your own be used by its ``name`` wherever a method is named.

    It also serves as a decorator of the class. Raises :class:`InputError` for a name that one of
    the kit's methods has.
    """
    if isinstance(METHODS.get(retriever.name), str):
        raise InputError(f"the kit has a method {retriever.name!r} already: choose another name")
    METHODS[retriever.name] = retriever
    return retriever
