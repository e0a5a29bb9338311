"""A tiny cross-encoder with weights drawn at random."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, tokenizer) -> Path:
    from transformers import BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("cross-encoder")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(
        vocab_size=len(tokenizer),
        intermediate_size=16,
        num_labels=1,
        initializer_range=1.0,
        **sizes,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    plain = deepcopy(tokenizer)
    plain.chat_template = None  # that of other tests, by which pairs would be written as a chat
    plain.save_pretrained(folder)
    return folder
