"""Text as numbers: encoder, keywords, entities; and language models."""

from kit.text.encoder import (
    DEFAULT_ENCODER,
    ENCODER_SETTINGS,
    Encoder,
    EncoderSettings,
    NearestNeighbours,
)
from kit.text.entities import BipartiteIncidence, link
from kit.text.language_models import LanguageModel, language_model
from kit.text.tfidf import TfidfIndex, keywords
