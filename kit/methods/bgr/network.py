"""BGR's network: it judges how surely each candidate comes next on a path (BGR §5.1, Eq. 1).

    Ẽ_i = ∪ ELU(FFN(h_i, E_i)),  h_i ∈ H_i                                                (1)

The paper's symbols and the names here: Q, H_i are ``paths``, of which the encoder makes h_i, the
``states`` of a path's tokens; E_i are the ``candidates``, of which :meth:`EvidenceNetwork.read`
makes :class:`EncodedCandidates`; ELU(FFN(…)) is :class:`PathScorer`; Ẽ_i are the candidates whose
logit is high enough (:mod:`kit.methods.bgr.search`).
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from kit.corpus.types import Texts
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.methods.bgr.graphs import BACKWARD, DIRECTIONS, NodePath
from kit.text import Encoder

LAYERS = 3  # upper ones of the encoder that learn, and read paths
MOST_TOKENS = 40  # of a candidate; BGR reads 30
LONGEST_PATH = 6  # pieces of evidence (bgr-i09)
N_LINKS = 4  # ways in which candidates hear of each other
DROPOUT = 0.2

MASKED = -1e4  # a logit that has no part in a softmax
UNLIKE = -1  # the least cosine
PRIOR = 3  # taken off each logit, as one of twenty candidates is right

# Factors that bring the inputs of the network to one scale, at which it begins to learn at once.
SHARPNESS = 20
LIKENESS_SCALE = 5
PLAN_SCALE = 5
LINK_SCALE = 10

Paths = Sequence[NodePath]
States = Sequence[Tensor]  # of the tokens in each text, (tokens, width)


class EncodedCandidates(NamedTuple):
    """A question and its candidates, as the encoder's lower layers read them, which do not learn.

    The question is the first text.
    """

    tokens: Tensor  # (texts, tokens, width)
    mask: Tensor  # (texts, tokens), false where a text is filled up
    vectors: Tensor  # (texts, width), means of the tokens, of unit length


class CandidateMatches(NamedTuple):
    """How well a question and its candidates match each other: what no path changes."""

    encoded: EncodedCandidates
    tokens: Tensor  # (texts, tokens, compared), as they are compared
    attention: Tensor  # (texts, tokens, heads), the weights of a candidate's tokens
    pairs: Tensor  # (texts, texts, 2 · heads + 1)


class PathScorer(nn.Module):
    """Eq. 1: a feed-forward network with ELU says how surely each candidate comes next on a path.

    It sees how well each candidate matches the question and the path: how alike they are as
    vectors, and how well the tokens of each are matched in the other. A token weighs as much as
    ``heads`` learned attentions give it. Then every candidate hears of the others, of those most
    that it matches itself: what comes next may be known by what lies beyond it.
    """

    def __init__(
        self,
        width: int,
        heads: int = 6,
        compared: int = 96,
        plan: int = 16,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        self.compared_tokens = nn.Linear(width, compared, bias=False)
        nn.init.orthogonal_(self.compared_tokens.weight)  # equal words are alike from the start
        self.attention = nn.ModuleDict(
            {name: nn.Linear(width, heads) for name in ("path", "text", "candidate")}
        )
        self.position_bias = nn.Parameter(torch.zeros(MOST_TOKENS, heads))  # titles stand first
        self.next_vector = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.next_vector.weight)
        self.plan = nn.Linear(width, plan)

        n_matches = 2 * heads + 1
        n_features = 2 * n_matches + plan + LONGEST_PATH + 2
        # One of each per direction.
        self.first_layer = nn.ModuleList(
            nn.Sequential(nn.Linear(n_features, hidden), nn.ELU()) for _ in DIRECTIONS
        )
        self.links = nn.ModuleList(nn.Linear(n_matches, N_LINKS) for _ in DIRECTIONS)
        self.last_layers = nn.ModuleList(
            nn.Sequential(
                nn.Dropout(DROPOUT),
                nn.Linear(2 * hidden, hidden),
                nn.ELU(),
                nn.Linear(hidden, 1),
            )
            for _ in DIRECTIONS
        )

    def compare(self, encoded: EncodedCandidates) -> CandidateMatches:
        """How well all texts match each other."""
        tokens = normalize(self.compared_tokens(encoded.tokens), dim=-1)
        # The cosine of each token t of text a with each token s of text b.
        cosines = torch.einsum("atd,bsd->abts", tokens, tokens)  # (texts, texts, tokens, tokens)
        # How well t is matched in b.
        matched = cosines.masked_fill(~encoded.mask[None, :, None], UNLIKE).amax(-1)

        in_text = self._weigh("text", encoded)
        in_candidate = self._weigh("candidate", encoded)

        # How much of a stands in b, and of b in a, by each head h: (texts, texts, heads).
        inside = torch.einsum("abt,ath->abh", matched, in_candidate)
        around = torch.einsum("bat,bth->abh", matched, in_text)
        alike = encoded.vectors @ encoded.vectors.T  # (texts, texts)
        pairs = torch.cat([inside, around, alike[..., None]], -1)
        return CandidateMatches(encoded, tokens, in_candidate, pairs)

    def _weigh(self, name: str, encoded: EncodedCandidates) -> Tensor:
        """How much each token of a text weighs: (texts, tokens, heads)."""
        n_tokens = encoded.mask.shape[1]
        logits = self.attention[name](encoded.tokens) + self.position_bias[:n_tokens]
        return _attention(logits, encoded.mask)

    def forward(
        self,
        matches: CandidateMatches,
        direction: str,
        paths: Paths,
        states: States,
    ) -> tuple[Tensor, Tensor]:
        """Logits and the likeness of vectors, both of shape (paths, candidates).

        ``paths`` hold positions of candidates; ``states`` are those of a path's tokens, each of
        shape (tokens, width).
        """
        side = int(direction == BACKWARD)
        path_vectors = _mean_vectors(states)  # (paths, width)
        next_vectors = normalize(self.next_vector(matches.encoded.vectors[1:]), dim=-1)
        likeness = SHARPNESS * path_vectors @ next_vectors.T

        features = [  # each (paths, candidates, …)
            *self._match_paths(matches, states),
            matches.pairs[1:, 0].expand(len(paths), -1, -1),  # with the question
            likeness[..., None] / LIKENESS_SCALE,
            *self._describe(paths, path_vectors, likeness.shape[1]),
        ]
        seen = self.first_layer[side](torch.cat(features, -1))  # (paths, candidates, hidden)
        heard = self._hear(seen, matches.pairs[1:, 1:], side)  # as large
        logits = self.last_layers[side](torch.cat([seen, heard], -1)).squeeze(-1) - PRIOR
        return logits, likeness

    def _match_paths(self, matches: CandidateMatches, states: States) -> list[Tensor]:
        """What of a candidate is on a path, and of the path in it: (paths, candidates, heads)."""
        path_states, path_mask = padded(states)
        path_tokens = normalize(self.compared_tokens(path_states), dim=-1)
        # The cosine of each token t of path p with each token s of candidate c.
        cosines = torch.einsum("ptd,csd->pcts", path_tokens, matches.tokens[1:])
        # How well s is matched in p, and t in c.
        of_candidate = cosines.masked_fill(~path_mask[:, None, :, None], UNLIKE).amax(2)
        of_path = cosines.masked_fill(~matches.encoded.mask[1:, None], UNLIKE).amax(3)

        in_path = _attention(self.attention["path"](path_states), path_mask)
        return [
            torch.einsum("pcs,csh->pch", of_candidate, matches.attention[1:]),
            torch.einsum("pct,pth->pch", of_path, in_path),
        ]

    def _describe(
        self,
        paths: Paths,
        path_vectors: Tensor,
        n_candidates: int,
    ) -> list[Tensor]:
        """What a path is about, how long it is; which candidates are on it, which is its last."""
        lengths = [min(len(path), LONGEST_PATH - 1) for path in paths]
        length = torch.eye(LONGEST_PATH, device=path_vectors.device)[lengths]
        about = torch.cat([PLAN_SCALE * self.plan(path_vectors), length], -1)

        is_on_path = path_vectors.new_zeros(len(paths), n_candidates, 2)
        for row, path in enumerate(paths):
            is_on_path[row, list(path), 0] = 1
            if path:
                is_on_path[row, path[-1], 1] = 1
        return [about[:, None].expand(-1, n_candidates, -1), is_on_path]

    def _hear(self, seen: Tensor, pairs: Tensor, side: int) -> Tensor:
        """What a candidate hears of the others, by :data:`N_LINKS` attentions over ``pairs``."""
        itself = torch.eye(len(pairs), dtype=torch.bool, device=seen.device)
        strength = LINK_SCALE * self.links[side](pairs)  # (candidates, candidates, links)
        links = strength.masked_fill(itself[..., None], MASKED).softmax(1)
        parts = seen.unflatten(-1, (N_LINKS, -1))  # (paths, candidates, links, values)
        # On path p candidate c hears of d, by link l, the values v.
        return torch.einsum("cdl,pdlv->pclv", links, parts).flatten(2)


class EvidenceNetwork(nn.Module):
    """All of BGR that learns: an encoder's upper layers, which read paths, and the scorer of Eq. 1.

    One network serves both directions: the encoder reads the direction before the question.
    """

    def __init__(self, base: Encoder, seed: int) -> None:
        super().__init__()
        self.learner = PartlyFrozenEncoder(base, LAYERS)
        self.encoder = self.learner.upper
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.scorer = PathScorer(self.encoder.get_embedding_dimension())
        self.scorer.to(self.encoder.device)

    def compare(self, all_texts: Sequence[Texts]) -> list[CandidateMatches]:
        """For each question, the first of its texts, how it and its candidates match."""
        flat = [text for texts in all_texts for text in texts]
        # By words rather than by meaning: more is found so, in less time.
        states = iter(self.learner.lower_states(flat, MOST_TOKENS))
        matches = []
        for texts in all_texts:
            of_question = list(islice(states, len(texts)))
            encoded = EncodedCandidates(*padded(of_question), _mean_vectors(of_question))
            matches.append(self.scorer.compare(encoded))
        return matches

    def read_paths(self, texts: Texts, directions: Sequence[str]) -> States:
        """h_i: the states of each path's tokens, (tokens, width), by the whole encoder.

        The direction stands in the text.
        """
        return self.learner.states(texts, "query")


def padded(states: States) -> tuple[Tensor, Tensor]:
    """Texts of any length as one tensor (texts, tokens, width), and a mask (texts, tokens)."""
    masks = [state.new_ones(len(state), dtype=torch.bool) for state in states]
    return pad_sequence(states, batch_first=True), pad_sequence(masks, batch_first=True)


def _mean_vectors(states: States) -> Tensor:
    """The mean of each text's tokens, of unit length: (texts, width)."""
    return normalize(torch.stack([state.mean(0) for state in states]), dim=-1)


def _attention(logits: Tensor, mask: Tensor) -> Tensor:
    """Weights of the tokens in each text that sum to 1: (texts, tokens, heads)."""
    return logits.masked_fill(~mask[..., None], MASKED).softmax(1)
