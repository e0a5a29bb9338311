"""The methods, one file each."""

from __future__ import annotations

from inspect import signature

from kit.errors import InputError
from kit.retrievers.base import (
    Asked,
    EdgeAdded,
    Message,
    Ranking,
    Retriever,
    Seed,
    Trace,
    Visit,
    ranking_from_rows,
    ranking_from_scores,
)
from kit.retrievers.dense import Dense
from kit.retrievers.sparse import BM25, Tfidf

RETRIEVERS: dict[str, type[Retriever]] = {retriever.name: retriever for retriever in (BM25, Tfidf, Dense)}


def make(name: str, **settings: object) -> Retriever:
    """A retriever by name. Raises :class:`InputError` for a name or a setting that does not exist."""
    if name not in RETRIEVERS:
        raise InputError(f"no retriever {name!r}; known are {', '.join(RETRIEVERS)}")
    known = signature(RETRIEVERS[name]).parameters
    if unknown := settings.keys() - known.keys():
        raise InputError(f"the retriever {name} has no setting {min(unknown)!r}; it has {', '.join(known) or 'none'}")
    return RETRIEVERS[name](**settings)


__all__ = [
    "BM25",
    "RETRIEVERS",
    "Asked",
    "Dense",
    "EdgeAdded",
    "Message",
    "Ranking",
    "Retriever",
    "Seed",
    "Tfidf",
    "Trace",
    "Visit",
    "make",
    "ranking_from_rows",
    "ranking_from_scores",
]
