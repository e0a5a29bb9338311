"""The writer of evidence: a small T5 from nothing, or a model of one's own (``kit data make evidence-writer``)."""

from .generate import FILES, learn_from, main, new_t5, save
from .learn import Finetuning, finetune
from .pairs import evidence_pairs, supporting_clause
