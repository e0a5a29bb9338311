"""A span head on a transformer: where an answer begins and ends in a window of passages, and of which kind it is."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from kit.text.attention import FUSED
from kit.text.precision import mixed_precision

LONGEST = 1024  # tokens of a window: ten short passages
LONGEST_TEXT = 512  # tokens of the question or a passage in it, which a BERT has positions for
LONGEST_SPAN = 30  # tokens of an answer
SPAN, NOWHERE = 0, 1  # kinds of answers; those that are no span follow
PLACES = 50  # of spans in a window, the likeliest, over which those of one text are summed
KEPT = 2**18  # tokens whose states are kept: 0.2 GB at a width of 384
TOKENS_AT_ONCE = 4096


class Tokens(NamedTuple):
    """A text in tokens: their numbers, where each begins and ends in the text, and which word each is part of."""

    text: str
    ids: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    words: tuple[int, ...]

    def part(self, start: int, end: int) -> Tokens:
        return Tokens(self.text, *(values[start:end] for values in self[1:]))


class Window(NamedTuple):
    """What is read at once: ``[CLS] question [SEP] [CLS] passage [SEP] [CLS] passage [SEP]``.

    ``sizes`` are the tokens of each text with its two. Arrays over the tokens: ``ids``; ``texts``, the place of the
    token's text in ``sources`` (0 for the question), -1 for ``[CLS]`` and ``[SEP]``; ``begins`` and ``ends``, its
    characters in that text; ``opens`` and ``closes``, whether a word begins or ends with it; ``shared``, where else its
    word stands: 1 in the question, 2 in another passage, 3 in both, 0 nowhere.
    """

    sources: tuple[str, ...]
    sizes: tuple[int, ...]
    ids: np.ndarray
    texts: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    shared: np.ndarray

    def span(self, first: int, last: int) -> str:
        """The text from one token to another of the same text."""
        return self.sources[self.texts[first]][self.begins[first] : self.ends[last]]

    def occurrences(self, answers: Sequence[str]) -> list[tuple[int, int]]:
        """First and last token of each place where one of the texts stands in whole words, in whatever case."""
        found = []
        for number, source in enumerate(self.sources):
            own = np.flatnonzero(self.texts == number)
            opening = {int(self.begins[place]): int(place) for place in own if self.opens[place]}
            closing = {int(self.ends[place]): int(place) for place in own if self.closes[place]}
            for answer in filter(None, answers):
                for match in re.finditer(re.escape(answer), source, re.IGNORECASE):
                    first, last = opening.get(match.start()), closing.get(match.end())
                    if first is not None and last is not None and last - first < LONGEST_SPAN:
                        found.append((first, last))
        return sorted(set(found))


def tokenise(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> list[Tokens]:
    """Each text in tokens, without special ones and however long it is."""
    if not texts:
        return []
    settings = {"add_special_tokens": False, "return_offsets_mapping": True, "truncation": False, "verbose": False}
    found = tokenizer(list(texts), **settings)
    rows = []
    for number, (text, ids, places) in enumerate(zip(texts, found["input_ids"], found["offset_mapping"])):
        begins, ends = zip(*places) if places else ((), ())
        rows.append(Tokens(text, tuple(ids), begins, ends, tuple(found.word_ids(number))))
    return rows


def pack(
    question: Tokens, passages: Sequence[Tokens], *, separators: tuple[int, int], longest: int = LONGEST
) -> list[Window]:
    """The windows of at most ``longest`` tokens that hold all passages in their order, whole wherever they fit.

    A passage too long for a window is cut into parts; of a question longer than half a window, the end is left out.
    Without passages there is one window with the question alone. ``separators`` are the numbers of [CLS] and [SEP].
    """
    question = question.part(0, min(longest // 2, LONGEST_TEXT) - 2)
    room = left = longest - len(question.ids) - 2
    most = min(room, LONGEST_TEXT) - 2
    parts = [passage.part(start, start + most) for passage in passages for start in range(0, len(passage.ids), most)]
    filled = [[question]]
    for part in parts:
        if len(part.ids) + 2 > left:
            filled.append([question])
            left = room
        filled[-1].append(part)
        left -= len(part.ids) + 2
    return [_window(parts, *separators) for parts in filled]


def _window(parts: Sequence[Tokens], start: int, separator: int) -> Window:
    asked = set(_words(parts[0]))
    n_passages = Counter(word for part in parts[1:] for word in set(_words(part)))  # parts of one count as several
    columns: list[list] = [[] for _ in range(7)]
    for number, part in enumerate(parts):
        changes = [one != other for one, other in zip(part.words, part.words[1:])]
        here = number > 0
        size = len(part.ids)
        values = (
            [start, *part.ids, separator],
            [-1, *[number] * size, -1],
            [0, *part.begins, 0],
            [0, *part.ends, 0],
            [False, *[True, *changes][:size], False],
            [False, *[*changes, True][:size], False],
            [0, *((here and word in asked) + 2 * (n_passages[word] > here) for word in _words(part)), 0],
        )
        for column, more in zip(columns, values):
            column += more
    sizes = tuple(len(part.ids) + 2 for part in parts)
    return Window(tuple(part.text for part in parts), sizes, *map(np.array, columns))


def _words(part: Tokens) -> list[tuple[int, ...]]:
    """The word of each token, as the tokens that it is made of."""
    pieces: dict[int, tuple[int, ...]] = {}
    for id, word in zip(part.ids, part.words):
        pieces[word] = (*pieces.get(word, ()), id)
    return [pieces[word] for word in part.words]


class Batch:
    """Windows as tensors (windows, tokens): which tokens there are, and where a span may begin or end."""

    def __init__(self, windows: Sequence[Window], device: torch.device) -> None:
        def padded(name: str) -> Tensor:
            rows = [torch.as_tensor(getattr(window, name)) for window in windows]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)

        self.windows = windows
        self.opens, self.closes, self.shared = padded("opens"), padded("closes"), padded("shared")
        lengths = torch.tensor([len(window.ids) for window in windows], device=device)
        self.read = torch.arange(self.shared.shape[1], device=device) < lengths[:, None]


class LowerHalf:
    """The embeddings and the lower half of the layers of a BERT, which stay what they are and read each text by itself.

    What they make of a text is kept, since passages come back with other questions and in other windows.
    """

    def __init__(self, transformer: PreTrainedModel) -> None:
        layers = transformer.encoder.layer
        self.module = nn.ModuleDict({"embeddings": transformer.embeddings, "layers": layers[: len(layers) // 2]})
        self.module.eval()  # without dropout
        self.device = transformer.device
        self._known: dict[bytes, Tensor] = {}
        self._size = 0  # tokens

    def states(self, ids: np.ndarray) -> Tensor:
        """(tokens, width), in half precision; one text at a time, so that the others of a batch don't matter."""
        key = ids.tobytes()
        if key not in self._known:
            if self._size > KEPT:
                self._known.clear()
                self._size = 0
            with torch.no_grad():
                states = self.module["embeddings"](torch.as_tensor(ids, device=self.device)[None])
                for layer in self.module["layers"]:
                    states = layer(states)
            self._known[key] = states[0].bfloat16()
            self._size += len(ids)
        return self._known[key]


class SpanNetwork(nn.Module):
    """Log probabilities: of a span's first and last token among all that open or close a word, and of the kinds.

    The kinds are ``SPAN``, ``NOWHERE`` (the window does not hold the answer), and each of the ``n_closed`` answers that
    are no span, such as yes and no. A span may lie in the question, which is how one of several named things is chosen.

    The transformer is a BERT. Its lower half (no part of this module) reads the question and each passage by itself,
    and the upper half, which learns, all of them together (as in Cao et al. 2020, DeFormer): less than half the time,
    and no limit to a window but memory, where transformers' question answering heads stop at 512 tokens. Words that
    stand in the question and a passage, or in two passages, are marked in between (as in DrQA, Chen et al. 2017): a few
    hundred questions are few to learn from that names are to match.
    """

    def __init__(self, transformer: PreTrainedModel, n_closed: int, seed: int) -> None:
        super().__init__()
        self.lower, self.config = LowerHalf(transformer), transformer.config
        self.upper = copy.deepcopy(transformer.encoder.layer[len(self.lower.module["layers"]) :])
        for layer in self.upper:
            layer.attention.self.config._attn_implementation = FUSED
        width = transformer.config.hidden_size
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends, self.kinds = nn.Linear(width, 2), nn.Linear(width, 2 + n_closed)
        self.marks = nn.Embedding.from_pretrained(torch.zeros(4, width), freeze=False)
        self.to(transformer.device)

    @property
    def device(self) -> torch.device:
        return self.lower.device

    def everything(self) -> dict[str, Tensor]:
        """The weights with those of the lower half, to be written."""
        parts = {"lower": self.lower.module, "learned": self}
        return {f"{part}/{name}": weight for part, of in parts.items() for name, weight in of.state_dict().items()}

    def load_everything(self, weights: dict[str, Tensor]) -> None:
        for part, module in (("lower/", self.lower.module), ("learned/", self)):
            own = {name.removeprefix(part): weight for name, weight in weights.items() if name.startswith(part)}
            module.load_state_dict(own)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """First (windows, tokens), last (windows, tokens), kinds (windows, kinds)."""
        texts = (
            torch.cat([self.lower.states(ids) for ids in np.split(window.ids, np.cumsum(window.sizes)[:-1])])
            for window in batch.windows
        )
        states = nn.utils.rnn.pad_sequence(list(texts), batch_first=True).float() + self.marks(batch.shared)
        for layer in self.upper:
            states = layer(states, attention_mask=batch.read[:, None, None])
        first, last = self.ends(states).float().unbind(-1)
        first, last = (
            values.masked_fill(~may, -1e4).log_softmax(1)
            for values, may in ((first, batch.opens), (last, batch.closes))
        )
        return first, last, self.kinds(states[:, 0]).float().log_softmax(1)


def best_span(window: Window, first: np.ndarray, last: np.ndarray) -> tuple[float, str]:
    """The likeliest text of a span with its log probability, summed over its places; (-inf, "") where there is none."""
    starts = np.flatnonzero(window.opens)[:, None]
    ends = starts + np.arange(LONGEST_SPAN)
    inside = ends < len(window.ids)
    ends = np.where(inside, ends, 0)
    allowed = inside & window.closes[ends] & (window.texts[starts] == window.texts[ends])
    scores = np.where(allowed, first[starts] + last[ends], -np.inf)
    found: dict[str, float] = {}
    written: dict[str, str] = {}  # as at its likeliest place
    for place in np.argsort(-scores, axis=None, kind="stable")[: min(PLACES, allowed.sum())]:
        start, length = np.unravel_index(place, scores.shape)
        text = window.span(starts[start, 0], ends[start, length])
        written.setdefault(text.lower(), text)
        found[text.lower()] = np.logaddexp(found.get(text.lower(), -np.inf), scores[start, length])
    best = max(found, key=found.__getitem__, default="")
    return float(found.get(best, -np.inf)), written.get(best, "")


class SpanModel:
    """``closed`` are the answers that are no span, in the order of the network's kinds."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, network: SpanNetwork, closed: Sequence[str]) -> None:
        self.tokenizer, self.network, self.closed = tokenizer, network, tuple(closed)

    def windows(self, question: Tokens, passages: Sequence[Tokens]) -> list[Window]:
        separators = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        return pack(question, passages, separators=separators)

    def answer(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], *, progress: bool = True
    ) -> list[str]:
        """The best answer of each context over its windows; empty where there is nothing to choose from.

        An answer's score is the logarithm of its probability in a window over the probability that the window does not
        hold the answer, so that windows can be compared.
        """
        texts = list(dict.fromkeys([*questions, *(text for context in contexts for text in context)]))
        tokens = dict(zip(texts, tokenise(self.tokenizer, texts)))
        windows = [
            (number, window)
            for number, (question, context) in enumerate(zip(questions, contexts, strict=True))
            for window in self.windows(tokens[question], [tokens[text] for text in context])
        ]
        best = [(-np.inf, "")] * len(questions)
        with tqdm(total=len(windows), desc="reading", unit="window", disable=not progress) as bar:
            for batch in by_length(windows):
                for (number, _), found in zip(batch, self._best([window for _, window in batch])):
                    best[number] = max(best[number], found, key=lambda scored: scored[0])
                bar.update(len(batch))
        return [text for _, text in best]

    def _best(self, windows: Sequence[Window]) -> list[tuple[float, str]]:
        """The best answer of each window with its score."""
        self.network.eval()
        with torch.no_grad(), mixed_precision():
            parts = self.network(Batch(windows, self.network.device))
        found = []
        for window, first, last, kinds in zip(windows, *(part.cpu().numpy() for part in parts)):
            score, text = best_span(window, first, last)
            answers = [(kinds[SPAN] + score, text), *zip(kinds[NOWHERE + 1 :], self.closed)]
            score, text = max(answers, key=lambda scored: scored[0])
            found.append((float(score - kinds[NOWHERE]), text))
        return found

    def write(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(self.network.everything(), folder / "reader.safetensors")
        (folder / "closed.json").write_text(json.dumps(self.closed), "utf-8")
        self.network.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @classmethod
    def read(cls, folder: Path) -> SpanModel:
        """The model that was written into a folder."""
        from safetensors.torch import load_file

        closed = json.loads((folder / "closed.json").read_text("utf-8"))
        transformer = AutoModel.from_config(AutoConfig.from_pretrained(folder, local_files_only=True))
        network = SpanNetwork(transformer.to("cuda" if torch.cuda.is_available() else "cpu"), len(closed), seed=0)
        network.load_everything(load_file(folder / "reader.safetensors"))
        return cls(AutoTokenizer.from_pretrained(folder, local_files_only=True), network, closed)


def by_length(
    windows: Sequence[tuple[object, Window]], most: int = TOKENS_AT_ONCE
) -> list[list[tuple[object, Window]]]:
    """Batches of at most ``most`` tokens with their padding, or of one window; the longest windows come first."""
    batches: list[list[tuple[object, Window]]] = []
    for pair in sorted(windows, key=lambda pair: -len(pair[1].ids)):
        if not batches or len(batches[-1][0][1].ids) * (len(batches[-1]) + 1) > most:
            batches.append([])
        batches[-1].append(pair)
    return batches
