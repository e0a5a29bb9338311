"""What is read: passages, questions, evidence."""

from kit.corpus.types import Benchmark, Corpus, EvidenceGraph, Passage, Query, Question, SubQuestion

__all__ = ["Benchmark", "Corpus", "EvidenceGraph", "Passage", "Query", "Question", "SubQuestion"]
