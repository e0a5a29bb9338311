"""The methods, a room a paper, and the registry that finds them by name.

A method's room is opened when the method is asked for, so that BM25 waits for no neural network.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from itertools import chain
from textwrap import indent

from kit.arguments import expect_known
from kit.errors import InputError, known_names
from kit.methods.base import Ranking, Retriever
from kit.methods.declared import says_how_to_learn, setting_names
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
    "hipporag2": "kit.methods.peers.hipporag2:HippoRAG2",
    "linear": "kit.methods.peers.linear:LinearRAG",
    "qsgnn": "kit.methods.qsgnn.retriever:QSGNN",
    "logistic": "kit.methods.graph_reranker.logistic:Logistic",
    "graph-reranker": "kit.methods.graph_reranker.retriever:GraphReranker",
    "bgr": "kit.methods.bgr.retriever:BGR",
    "grr": "kit.methods.bgr.grr:GRR",
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
    registered = _registered(name)
    if isinstance(registered, str):
        module, class_name = registered.split(":")
        return getattr(import_module(module), class_name)
    return registered


def settings_of(name: str) -> list[str]:
    """The names of a method's settings, for which its room is not opened.

    Raises :class:`InputError` for a method that does not exist.
    """
    registered = _registered(name)
    if isinstance(registered, str):
        return setting_names(*registered.split(":"))
    return list(registered.defaults())


def learns(name: str) -> bool:
    """Whether a method may learn from training questions; its room is not opened for that, either.

    Raises :class:`InputError` for a method that does not exist.
    """
    registered = _registered(name)
    if isinstance(registered, str):
        return says_how_to_learn(*registered.split(":"))
    return registered.fit is not Retriever.fit


def _registered(name: str) -> str | type[Retriever]:
    expect_known([name], METHODS, "retriever")
    return METHODS[name]


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
    names = list(names)
    expect_settings(names, settings)
    retrievers = {}
    for name in names:
        accepted = settings_of(name)
        chosen = {key: value for key, value in settings.items() if key in accepted}
        retrievers[name] = make(name, **chosen)
    return retrievers


def expect_settings(names: Iterable[str], settings: Iterable[str]) -> None:
    """Raise :class:`InputError` for a method, or a setting that none of them has.

    It takes a moment, as no method's room is opened.
    """
    accepted = {name: settings_of(name) for name in names}
    all_names = dict.fromkeys(chain.from_iterable(accepted.values()))
    for setting in settings:
        if setting not in all_names:
            listed = ", ".join(accepted) or "none"
            raise InputError(
                f"no setting {setting!r} of {listed}; known are {known_names(all_names, setting)}"
            )


def register(retriever: type[Retriever]) -> type[Retriever]:
    """Let a method of your own be used by its ``name`` wherever a method is named.

    It also serves as a decorator of the class. Raises :class:`InputError` for a class without a
    name, and for a name that one of the kit's methods has.
    """
    if not hasattr(retriever, "name"):
        raise InputError(f"expected a class of retrievers with a name, not {retriever!r}")
    if isinstance(METHODS.get(retriever.name), str):
        raise InputError(f"the kit has a method {retriever.name!r} already: choose another name")
    METHODS[retriever.name] = retriever
    return retriever
