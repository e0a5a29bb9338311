"""What several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("kit", deadline=None)  # speed is measured in benchmarks, not by a clock in a test
settings.load_profile("kit")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of the samples of the published data sets; skips the test where there is none."""
    folder = Path(os.environ.get("KIT_REALDATA") or ROOT.parent / "shared" / "datasets")
    if not folder.is_dir():
        pytest.skip(f"no samples of the published data sets at {folder.name} (set KIT_REALDATA)")
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a sentence-transformers model that learns in moments: one layer, random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel

    from kit.text import Encoder

    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    BertModel(BertConfig(**sizes)).save_pretrained(folder / "bert")
    Encoder().model.tokenizer.save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"), max_seq_length=128)
    model = SentenceTransformer(modules=[words, Pooling(words.get_embedding_dimension())], device="cpu")
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return str(folder / "model")
