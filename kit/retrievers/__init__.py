"""The methods, one file each, and the baselines."""

from collections.abc import Iterable

from kit.errors import InputError
from kit.retrievers.base import Expansion, GraphGrowth, Merge, Ranking, Retriever, Seed, SubQuestionEvent, Trace
from kit.retrievers.baselines import BM25, KNN, Dense, Golden, Tfidf
from kit.retrievers.bgr import BGR
from kit.retrievers.dpr import DPR
from kit.retrievers.gnn_ret import GNNRet
from kit.retrievers.kgp import KGP, KGPMDR, KGPT5, KGPChat, KGPDense, KGPRandom, KGPTfidf
from kit.retrievers.loops import IRCoT, IterRetGen, SelfAsk, SelfCritique
from kit.retrievers.mdr import MDR
from kit.retrievers.pagerank import PageRank
from kit.retrievers.qsgnn import QSGNN
from kit.retrievers.ras import RAS
from kit.retrievers.rgnn_ret import RGNNRet

RETRIEVERS: dict[str, type[Retriever]] = {
    retriever.name: retriever
    for retriever in (
        *(BM25, Tfidf, Dense, KNN, GNNRet, RGNNRet, DPR, MDR, PageRank, QSGNN, BGR, RAS),
        *(SelfAsk, SelfCritique, IRCoT, IterRetGen),
        *(KGPRandom, KGPTfidf, KGPDense, KGPMDR, KGPT5, KGPChat, Golden),
    )
}


def make(name: str, **settings: object) -> Retriever:
    """A retriever by name. Raises :class:`InputError` for a name, a setting or a value that does not exist."""
    return method(name)(**settings)


def make_all(names: Iterable[str], **settings: object) -> dict[str, Retriever]:
    """Several retrievers by name; a setting goes to those that have it. Raises :class:`InputError` if none does."""
    fields = {name: method(name).defaults().keys() for name in names}
    if unknown := settings.keys() - set().union(*fields.values()):
        raise InputError(f"no retriever of {', '.join(fields) or 'none'} has a setting {min(unknown)!r}")
    return {name: make(name, **{key: settings[key] for key in settings.keys() & fields[name]}) for name in fields}


def method(name: str) -> type[Retriever]:
    """The class of a method. Raises :class:`InputError` for a name that does not exist."""
    if name not in RETRIEVERS:
        raise InputError(f"no retriever {name!r}; known are {', '.join(RETRIEVERS)}")
    return RETRIEVERS[name]
