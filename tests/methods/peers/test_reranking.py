"""Reranking by another method, and by a tiny cross-encoder with weights drawn at random."""

import pytest
import torch

from kit.corpus import example
from kit.errors import InputError
from kit.methods import make

QUESTION = "Which river floods the birthplace of the director of the film The Glass Harbour?"


def test_only_the_first_are_ordered_anew(indexed) -> None:
    dense = indexed("dense").retrieve(QUESTION, 6).ids
    bm25 = indexed("bm25").retrieve(QUESTION, 6).ids
    ranked = indexed("rerank(dense, bm25, 3)").retrieve(QUESTION, 6).ids
    judged = [passage for passage in bm25 if passage in dense[:3]]
    unjudged = [passage for passage in dense[:3] if passage not in bm25]
    assert ranked == (*judged, *unjudged, *dense[3:])
    assert indexed("rerank(dense, bm25, 1)").retrieve(QUESTION, 6).ids == dense


def test_a_cross_encoder_reads_question_and_passage_together(indexed, tiny) -> None:
    from transformers import AutoTokenizer, BertForSequenceClassification

    ranked = indexed(f"rerank(dense, {tiny}, 4)")
    first = indexed("dense").retrieve(QUESTION, 4).ids
    texts = [example().corpus[passage].full_text for passage in first]
    model = BertForSequenceClassification.from_pretrained(tiny).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    inputs = tokenizer([QUESTION] * 4, texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**inputs).logits[:, 0]
    order = logits.argsort(descending=True, stable=True)
    assert ranked.retrieve(QUESTION, 4).ids == tuple(first[rank] for rank in order)
    assert ranked.name == f"rerank(dense, {tiny})"


def test_a_model_that_is_nowhere_is_told_in_a_line(indexed, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: 1 / 0)
    reranker = indexed("rerank(dense, nobody/nothing)")
    with pytest.raises(InputError, match="'nobody/nothing' is no folder"):
        reranker.retrieve(QUESTION, 2)
    with pytest.raises(InputError, match="expected rerank"):
        make("rerank(dense)")
