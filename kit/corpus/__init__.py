"""What is read: passages, questions, evidence."""

from kit.corpus.describing import describe, describe_corpus
from kit.corpus.exporting import EXPORTS, export
from kit.corpus.fetching import DOWNLOADS, fetch
from kit.corpus.formats import FORMATS
from kit.corpus.generating import generated
from kit.corpus.loading import SETTINGS, UNITS, check, load, load_corpus, load_training
from kit.corpus.pdf import read_documents
from kit.corpus.source import Problem
from kit.corpus.types import Benchmark, Corpus, EvidenceGraph, GoldQuery, Passage, Query, Question, SubQuestion

__all__ = [
    "DOWNLOADS",
    "EXPORTS",
    "FORMATS",
    "SETTINGS",
    "UNITS",
    "Benchmark",
    "Corpus",
    "EvidenceGraph",
    "GoldQuery",
    "Passage",
    "Problem",
    "Query",
    "Question",
    "SubQuestion",
    "check",
    "describe",
    "describe_corpus",
    "export",
    "fetch",
    "generated",
    "load",
    "load_corpus",
    "load_training",
    "read_documents",
]
