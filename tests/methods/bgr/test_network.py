"""Eq. 1 on tokens that one can check by hand, and what candidates hear of each other."""

import torch

from kit.corpus import Benchmark
from kit.methods.bgr.graphs import BACKWARD, FORWARD
from kit.methods.bgr.network import MOST_TOKENS, EncodedCandidates, PathScorer
from kit.methods.bgr.retriever import BGR
from kit.text import Encoder


def test_tokens_are_matched_by_what_is_like_them() -> None:
    a, b, c, none = *torch.eye(4)[:3], torch.zeros(4)
    scorer = PathScorer(4, heads=1, compared=4, plan=1)
    with torch.no_grad():
        scorer.compared_tokens.weight.copy_(torch.eye(4))
        for attention in scorer.attention.values():
            attention.weight.zero_()
    tokens = torch.stack([torch.stack(text) for text in ([a, b], [b, none], [c, a])])
    mask = torch.tensor([[True, True], [True, False], [True, True]])
    matches = scorer.compare(EncodedCandidates(tokens, mask, tokens.mean(1)))
    # Padding weighs nothing.
    assert matches.attention[..., 0].tolist() == [[0.5, 0.5], [1, 0], [0.5, 0.5]]
    inside, around, alike = matches.pairs.unbind(-1)
    # All of the first candidate stands in the question, of the second a.
    assert inside[1:, 0].tolist() == [1, 0.5]
    # And of the question b stands in the first, a in the second.
    assert around[1:, 0].tolist() == [0.5, 0.5]
    assert (inside[2, 1], around[2, 1], alike[1, 0]) == (0, 0, 0.25)

    states = [torch.stack([a, c]), torch.stack([a, b])]
    logits, likeness = scorer(matches, FORWARD, [(), (0,)], states)
    assert logits.shape == likeness.shape == (2, 2)
    # Vectors of mean tokens: (a + c) / √2 with b and with (c + a) / 2, made unit, times 20.
    assert torch.allclose(likeness[0], torch.tensor([0.0, 20.0]), atol=1e-4)


def test_candidates_hear_of_each_other_in_no_order_and_paths_do_not() -> None:
    scorer = PathScorer(8, heads=2, compared=4, plan=3, hidden=8).eval()
    tokens = torch.randn(6, 5, 8)
    mask = torch.arange(5) < torch.tensor([5, 3, 4, 5, 2, 3])[:, None]
    paths = [(), (2,), (2, 0)]
    states = [torch.randn(n, 8) for n in (4, 7, 9)]

    def judge(
        order: list[int],
        paths: list = paths,
        states: list = states,
        tokens: torch.Tensor = tokens,
    ) -> torch.Tensor:
        texts = [0, *(position + 1 for position in order)]
        encoded = EncodedCandidates(tokens[texts], mask[texts], tokens[texts].mean(1))
        paths = [tuple(map(order.index, path)) for path in paths]
        return scorer(scorer.compare(encoded), BACKWARD, paths, states)[0]

    with torch.no_grad():
        in_order = [0, 1, 2, 3, 4]
        logits = judge(in_order)
        order = [3, 0, 4, 2, 1]
        assert torch.allclose(judge(order), logits[:, order], atol=1e-5)
        alone = [judge(in_order, [path], [state]) for path, state in zip(paths, states)]
        # What fills up shorter paths is not read.
        assert torch.allclose(torch.cat(alone), logits, atol=1e-5)
        other = tokens.clone()
        other[5] += 1
        changed = judge(in_order, tokens=other) - logits
        # Another last candidate is another context for each.
        assert (changed.abs() > 1e-7).all()


def test_candidates_are_read_by_the_layers_that_do_not_learn(fitted: BGR, facts: Benchmark) -> None:
    question = facts.test[0]
    model = Encoder().model[0]
    passages = facts.collection(question).passages
    texts = [question.text, *(passage.full_text for passage in passages)]
    [matches] = fitted.network.compare([texts])
    encoded = matches.encoded
    with torch.no_grad():
        features = model.preprocess(texts[:4])
        layers = model.auto_model(**features, output_hidden_states=True).hidden_states
    for text in range(4):
        n = int(encoded.mask[text].sum())
        assert n <= MOST_TOKENS
        assert torch.allclose(
            encoded.tokens[text, :n], layers[3][text, :n].half().float(), atol=2e-3
        )
        mean = torch.nn.functional.normalize(layers[3][text, :n].mean(0), dim=0)
        assert torch.allclose(encoded.vectors[text], mean, atol=1e-4)
    assert not encoded.tokens.requires_grad and len(encoded.tokens) == len(texts)
