"""Eqs. 1 and 2 as the paper prints them: a vector of the path, a vector of a piece of evidence.

    h_0 = BERT(Q),  E = BERT(e) for each candidate e
    Ẽ_i = ∪ ELU(FFN(h_i, E_i)),  h_i ∈ H_i                                                (1)
    H_{i+1} = {h_i ∪ ẽ_i | ẽ_i ∈ Ẽ_i}, joined by attention                                (2)

There are two networks, one per direction. What :mod:`kit.methods.bgr.network` adds is missing:
candidates are matched by no tokens and hear nothing of each other, paths are not read again as
text, and no sub-questions are learned from.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from kit.corpus.types import Texts
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.methods.bgr.graphs import DIRECTIONS, NodePath
from kit.methods.bgr.network import LAYERS, MOST_TOKENS, PRIOR, Paths, padded
from kit.text import Encoder

HEADS = 4  # of the attention of Eq. 2
HIDDEN = 256


class EncodedTexts(NamedTuple):
    """A question, the first of the texts, and its candidates, as one direction's encoder has them.

    ``states`` are those of the tokens, (texts, tokens, width), and ``mask`` is false where a text
    is filled up. ``vectors`` are their means, (texts, width).
    """

    states: Tensor
    mask: Tensor
    vectors: Tensor


class PrintedScorer(nn.Module):
    """FFN(h, e) of Eq. 1 and the attention of Eq. 2, for one direction."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.join = nn.TransformerDecoderLayer(
            width,
            HEADS,
            dim_feedforward=2 * width,
            dropout=0.0,
            batch_first=True,
        )
        self.judge = nn.Sequential(
            nn.Linear(2 * width, HIDDEN),
            nn.ELU(),
            nn.Linear(HIDDEN, 1),
        )

    def path_state(self, texts: EncodedTexts, path: NodePath) -> Tensor:
        """h of a path, (width): of the question, joined with each piece of evidence in turn."""
        state = texts.vectors[0]
        for position in path:
            row = position + 1
            state = self.join(
                state[None, None],  # (1, 1, width)
                texts.states[None, row],  # (1, tokens, width)
                memory_key_padding_mask=~texts.mask[None, row],
            )[0, 0]
        return state

    def forward(self, texts: EncodedTexts, paths: Paths) -> Tensor:
        """Logits (paths, candidates)."""
        candidates = texts.vectors[1:]
        states = torch.stack([self.path_state(texts, path) for path in paths])
        pairs = torch.cat(
            [
                states[:, None].expand(-1, len(candidates), -1),
                candidates[None].expand(len(paths), -1, -1),
            ],
            dim=-1,
        )  # (paths, candidates, 2 · width)
        return self.judge(pairs).squeeze(-1) - PRIOR


class PrintedNetwork(nn.Module):
    """Two encoders and two scorers; it judges as :class:`EvidenceNetwork` does."""

    def __init__(self, base: Encoder, seed: int) -> None:
        super().__init__()
        self.learners = {direction: PartlyFrozenEncoder(base, LAYERS) for direction in DIRECTIONS}
        self.encoder = nn.ModuleList(learner.upper for learner in self.learners.values())
        width = base.model.get_embedding_dimension()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.scorers = nn.ModuleList(PrintedScorer(width) for _ in DIRECTIONS)
        self.scorers.to(base.model.device)

    def compare(self, all_texts: Sequence[Texts]) -> list[dict[str, EncodedTexts]]:
        """For each question, the first of its texts, the texts as each encoder has them."""
        flat = [text for texts in all_texts for text in texts]
        encoded = [{} for _ in all_texts]
        for direction, learner in self.learners.items():
            states = learner.states(flat)
            start = 0
            for question, texts in zip(encoded, all_texts):
                of_question = states[start : start + len(texts)]
                start += len(texts)
                vectors = torch.stack([state.mean(0) for state in of_question])
                cut = [state[:MOST_TOKENS] for state in of_question]
                question[direction] = EncodedTexts(*padded(cut), vectors)
        return encoded

    def read_paths(self, texts: Texts, directions: Sequence[str]) -> list[None]:
        """Nothing: a path's state is made of its evidence."""
        return [None for _ in texts]

    def scorer(
        self,
        matches: dict[str, EncodedTexts],
        direction: str,
        paths: Paths,
        states: Sequence[None],
    ) -> tuple[Tensor, None]:
        """Logits (paths, candidates), and no likeness of vectors."""
        return self.scorers[DIRECTIONS.index(direction)](matches[direction], paths), None
