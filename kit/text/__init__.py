"""Text as numbers: encoder, keywords, entities; and language models."""

from kit.text.encoder import DEFAULT_ENCODER, Encoder, NearestNeighbours
from kit.text.entities import link
from kit.text.incidence import Incidence
from kit.text.language_models import LanguageModel, language_model
from kit.text.tfidf import Keywords, TfidfIndex

__all__ = [
    "DEFAULT_ENCODER",
    "Encoder",
    "Incidence",
    "Keywords",
    "LanguageModel",
    "NearestNeighbours",
    "TfidfIndex",
    "language_model",
    "link",
]
