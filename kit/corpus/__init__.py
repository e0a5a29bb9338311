"""What is read: passages, questions, evidence."""

from kit.corpus.exporting import export
from kit.corpus.facts import single_facts
from kit.corpus.fetching import DOWNLOADS, fetch
from kit.corpus.formats import FORMATS
from kit.corpus.loading import SETTINGS, check, example, load, load_corpus, load_training
from kit.corpus.pdf import read_document
from kit.corpus.pools import document_pools
from kit.corpus.types import (
    Benchmark,
    Corpus,
    EvidenceGraph,
    GoldQuery,
    Passage,
    PlainTriple,
    Query,
    Question,
    SubQuestion,
)
