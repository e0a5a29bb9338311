"""Texts of one's own to passages: plain text, Markdown and web pages (GNN-Ret §5.1)."""

from kit.corpus.prose.cutting import PASSAGE_TOKENS
from kit.corpus.prose.markup import PARSERS, Part
from kit.corpus.prose.reading import passage_texts, read_prose
