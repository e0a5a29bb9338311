"""The methods, a room a paper, and the registry that finds them by name.

A method's room is opened when the method is asked for, so that BM25 waits for no neural network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import chain
from textwrap import indent

from kit.arguments import expect_known
from kit.errors import InputError, known_names
from kit.methods.base import Ranking, Retriever
from kit.methods.declared import says_how_to_learn, setting_names
from kit.methods.nested import read_call
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
    "beams": "kit.methods.peers.beams:Beams",
    "hypergraph": "kit.methods.peers.hypergraph:Hypergraph",
    "raptor": "kit.methods.peers.raptor:Raptor",
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
#: What goes around other methods: ``fuse(bm25, gnn-ret)``, ``rerank(gnn-ret, mdr, 50)``.
WRAPPERS = {
    "fuse": "kit.methods.peers.fusion:Fuse",
    "rerank": "kit.methods.peers.reranking:Rerank",
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
    """The names of a method's settings, and of those that it goes around; no room is opened.

    Raises :class:`InputError` for a method that does not exist.
    """
    name, arguments = read_call(name)
    if name in WRAPPERS:
        names = setting_names(*WRAPPERS[name].split(":"))
        for argument in filter(is_method, arguments):
            names += settings_of(argument)
        return list(dict.fromkeys(names))

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
    expect_known([name], [*METHODS, *WRAPPERS], "retriever")
    return METHODS.get(name) or WRAPPERS[name]


def is_method(text: str) -> bool:
    """Whether a text begins like the name of a method, whatever stands in its brackets."""
    return read_call(text).name in {*METHODS, *WRAPPERS}


class _Make:
    """Makes retrievers; its own documentation has the settings of all methods."""

    def __call__(self, name: str, **settings: object) -> Retriever:
        call = read_call(name) if isinstance(name, str) else None
        if call and call.name in WRAPPERS:
            return method(call.name).of(call.arguments, **settings)
        return method(name)(**settings)

    @property
    def __doc__(self) -> str:
        """Written when it is asked for, since that opens every method's room."""
        parts = [
            "A retriever by name, with settings: ``make('gnn-ret', top_k=10)``.",
            "Raises :class:`InputError` for a name, a setting or a value that does not exist.",
        ]
        for name in (*METHODS, *WRAPPERS):
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
        retrievers[name] = make(name, **accepted(name, settings))
    return retrievers


def accepted(name: str, settings: Mapping[str, object]) -> dict[str, object]:
    """Those of the settings that a method, or one that it goes around, has."""
    names = settings_of(name)
    return {key: value for key, value in settings.items() if key in names}


def expect_settings(names: Iterable[str], settings: Iterable[str]) -> None:
    """Raise :class:`InputError` for a method, or a setting that none of them has.

    It takes a moment, as no method's room is opened.
    """
    by_name = {name: settings_of(name) for name in names}
    all_names = dict.fromkeys(chain.from_iterable(by_name.values()))
    for setting in settings:
        if setting not in all_names:
            listed = ", ".join(by_name) or "none"
            raise InputError(
                f"no setting {setting!r} of {listed}; known are {known_names(all_names, setting)}"
            )


def register(retriever: type[Retriever]) -> type[Retriever]:
    """Let a method of your own be used by its ``name`` wherever a method is named.

    It also serves as a decorator of the class. Raises :class:`InputError` for what is no subclass
    of :class:`Retriever` or has no name, and for a name that one of the kit's methods has.
    """
    is_retriever = isinstance(retriever, type) and issubclass(retriever, Retriever)
    if not is_retriever or not hasattr(retriever, "name"):
        raise InputError(f"expected a subclass of kit.Retriever with a name, not {retriever!r}")
    if isinstance(METHODS.get(retriever.name), str):
        raise InputError(f"the kit has a method {retriever.name!r} already: choose another name")
    METHODS[retriever.name] = retriever
    return retriever
