"""A span head on a transformer learns where in a window of passages an answer stands, and of which kind it is."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from kit.corpus import Benchmark, Corpus, Question
from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision
from kit.text.scoring import contains, exact_match, f1, normalise
from kit.text.tfidf import TfidfIndex
from kit.text.training import CHECKS, Item, Period, parts_of_epoch, train

if TYPE_CHECKING:
    from kit.text.reader import Learning

LONGEST = 4096  # tokens of a window, forty short passages
LONGEST_TEXT = 512  # tokens of a text or a part of a long one: a BERT has positions for so many
LONGEST_SPAN = 30  # tokens of an answer
SPAN = 0  # a kind of answer; those that are no span follow
N_KEPT = 2_000  # texts whose states are kept: 0.2 GB at a width of 384
TOKENS_AT_ONCE = 4096

N_NEAR = 10  # passages nearest to a question, from which distractors are drawn
FILLED = 2_300  # characters up to which distractors join the supports, at most: about five passages of an encyclopaedia
COMMON = 0.01  # the share of questions from which on an answer that no support holds is a closed one
DEV_QUESTIONS, DEV_PASSAGES = 64, 5  # how a reader is chosen: EM and F1 on supports among distractors
HEAD_RATE = 10  # times the learning rate, for the heads, which start from nothing


class Window:
    """What is read at once: ``[CLS] question [SEP] [CLS] passage [SEP] …``; a passage may be a part of a long one.

    What is longer than ``LONGEST`` loses its last passages. Arrays over the tokens: ``ids``; ``piece``, the number of
    its text (0 is the question); ``places``, its characters in that text; ``opens`` and ``closes``, whether a word
    begins or ends with it; ``shared``, where else its word stands: 1 in the question, 2 in another passage, 3 in both,
    0 nowhere.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, question: str, passages: Sequence[str]) -> None:
        overflow = {"return_overflowing_tokens": True, "return_offsets_mapping": True}
        found = tokenizer([question, *passages], truncation=True, max_length=LONGEST_TEXT, **overflow)
        owners, sizes = found["overflow_to_sample_mapping"], np.array([len(ids) for ids in found["input_ids"]])
        read = [row for row, owner in enumerate(owners) if owner or not row]  # of a long question its first part
        rows = [row for row, size in zip(read, np.cumsum(sizes[read])) if size <= LONGEST]
        self.texts, self.sizes = [[question, *passages][owners[row]] for row in rows], sizes[rows]
        self.ids, self.places = (
            np.concatenate([found[name][row] for row in rows]) for name in ("input_ids", "offset_mapping")
        )
        self.piece = np.repeat(range(len(rows)), self.sizes)
        numbers = np.array([-1 if word is None else word for row in rows for word in found.word_ids(row)])
        inside, changes = numbers >= 0, np.diff(numbers) != 0
        self.opens, self.closes = inside & np.append(True, changes), inside & np.append(changes, True)

        spans = zip(np.flatnonzero(self.opens), np.flatnonzero(self.closes))
        words = [(self.piece[first], self.text(first, last).lower()) for first, last in spans]
        asked = {word for piece, word in words if piece == 0}
        n_passages = Counter(word for piece, word in set(words) if piece > 0)
        shared = [(piece > 0 and word in asked) + 2 * (n_passages[word] > (piece > 0)) for piece, word in words]
        self.shared = np.where(inside, np.array([*shared, 0])[np.cumsum(self.opens) - 1], 0)

    def __len__(self) -> int:
        return len(self.ids)

    def text(self, first: int, last: int) -> str:
        """The text from one token to another of the same piece."""
        return self.texts[self.piece[first]][self.places[first, 0] : self.places[last, 1]]

    def candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last tokens of all that can be an answer: whole words of one text, not too many."""
        starts, ends = np.meshgrid(np.flatnonzero(self.opens), np.flatnonzero(self.closes), indexing="ij")
        allowed = (starts <= ends) & (ends < starts + LONGEST_SPAN) & (self.piece[starts] == self.piece[ends])
        return starts[allowed], ends[allowed]

    def spans(self, answers: Iterable[str], texts: Container[str]) -> list[tuple[int, int]]:
        """First and last tokens where one of the answers stands in one of the texts: in whole words, in any case."""
        wanted = {answer.lower() for answer in answers}
        starts, ends = self.candidates()
        near = np.isin(self.places[ends, 1] - self.places[starts, 0], list(map(len, wanted)))
        found = [span for span in zip(starts[near].tolist(), ends[near].tolist()) if self.text(*span).lower() in wanted]
        return [(first, last) for first, last in found if self.texts[self.piece[first]] in texts]

    def best_span(self, first: np.ndarray, last: np.ndarray) -> tuple[float, str]:
        """The likeliest span and the logarithm of its probability; "" where there is none."""
        starts, ends = self.candidates()
        scores = first[starts] + last[ends]
        if not len(scores):
            return -np.inf, ""
        best = np.argmax(scores)
        return float(scores[best]), self.text(starts[best], ends[best])


def batches_by_length(windows: Iterable[Window], n_tokens: int = TOKENS_AT_ONCE) -> list[list[Window]]:
    """Batches of at most ``n_tokens`` with their padding, or of one window; the longest windows come first."""
    batches: list[list[Window]] = []
    for window in sorted(windows, key=len, reverse=True):
        if not batches or len(batches[-1][0]) * (len(batches[-1]) + 1) > n_tokens:
            batches.append([])
        batches[-1].append(window)
    return batches


class SpanNetwork(nn.Module):
    """Log probabilities: of a span's first and last token among all that open or close a word, and of the kinds.

    The kinds are ``SPAN`` (it may lie in the question) and each of the ``closed`` answers that are no span, such as
    yes and no. The lower half of the BERT stays what it is and reads
    the question and each passage by itself; the upper half learns and reads all of them together (Cao et al. 2020,
    DeFormer): less than half the time, and no limit of 512 tokens. In between, words that stand in several texts are
    marked (DrQA, Chen et al. 2017): a few hundred questions are few to learn from that names are to match.
    """

    def __init__(
        self, bert: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, closed: Sequence[str], seed: int = 0
    ) -> None:
        super().__init__()
        self.bert, self.tokenizer, self.closed = copy.deepcopy(bert).eval(), tokenizer, tuple(closed)
        self.bert.config.closed_answers = list(closed)  # written and read with it
        self.half, width = len(self.bert.encoder.layer) // 2, self.bert.config.hidden_size
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends, self.kinds = nn.Linear(width, 2), nn.Linear(width, 1 + len(closed))
        self.marks = nn.Embedding.from_pretrained(torch.zeros(4, width), freeze=False)
        self.to(bert.device)
        self.lower = lru_cache(N_KEPT)(self._lower)  # passages come back with other questions, in other windows

    @torch.no_grad()
    def _lower(self, ids: tuple[int, ...]) -> Tensor:
        """(tokens, width), in half precision; one text at a time, so that the others of a batch don't matter."""
        states = self.bert.embeddings(torch.tensor([ids], device=self.bert.device))
        for layer in self.bert.encoder.layer[: self.half]:
            states = layer(states)
        return states[0].bfloat16()

    def forward(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor, Tensor]:
        """First (windows, tokens), last (windows, tokens), kinds (windows, kinds)."""

        def padded(rows: Iterable[np.ndarray | Tensor]) -> Tensor:
            tensors = [torch.as_tensor(row, device=self.bert.device) for row in rows]
            return nn.utils.rnn.pad_sequence(tensors, batch_first=True)

        texts = [np.split(window.ids, np.cumsum(window.sizes)[:-1]) for window in windows]
        states = padded(torch.cat([self.lower(tuple(ids.tolist())) for ids in parts]) for parts in texts).float()
        states = states + self.marks(padded(window.shared for window in windows))
        read = padded(np.ones(len(window), bool) for window in windows)[:, None, None]
        for layer in self.bert.encoder.layer[self.half :]:
            states = layer(states, attention_mask=read)
        first, last = self.ends(states).float().unbind(-1)
        first = first.masked_fill(~padded(window.opens for window in windows), -1e4).log_softmax(1)
        last = last.masked_fill(~padded(window.closes for window in windows), -1e4).log_softmax(1)
        return first, last, self.kinds(states[:, 0]).float().log_softmax(1)

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        """The best answer to each question from its context."""
        asked = [Window(self.tokenizer, *each) for each in zip(questions, contexts, strict=True)]
        found: dict[Window, str] = {}
        for batch in batches_by_length(asked):
            with torch.no_grad(), mixed_precision():
                parts = [part.cpu().numpy() for part in self(batch)]
            for window, first, last, kinds in zip(batch, *parts):
                score, text = window.best_span(first, last)
                answers = [(kinds[SPAN] + score, text), *zip(kinds[SPAN + 1 :], self.closed)]
                _, found[window] = max(answers, key=itemgetter(0))
        return [found[window] for window in asked]

    def write(self, folder: Path) -> None:
        save_file(self.state_dict(), folder / "reader.safetensors")
        self.bert.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @classmethod
    def read(cls, folder: Path) -> SpanNetwork:
        """The network that was written into a folder."""
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        network = cls(AutoModel.from_config(config), tokenizer, config.closed_answers)
        network.load_state_dict(load_file(folder / "reader.safetensors"))
        return network.to("cuda" if torch.cuda.is_available() else "cpu")


class Lesson(NamedTuple):
    """A question or a step of one, its answers, and the texts of its supports and of the passages nearest to it."""

    question: str
    answers: tuple[str, ...]
    supports: tuple[str, ...]
    near: tuple[str, ...]
    is_step: bool

    def example(self, network: SpanNetwork, generator: np.random.Generator) -> Example | None:
        """Each time with other distractors in another order; None where the answer is neither closed nor there."""
        # Distractors up to a size drawn anew, so that some examples have none.
        texts = [*self.supports, *_shuffled(self.near, generator)]
        sizes = len(self.question) + np.cumsum([len(text) for text in texts])
        n_shown = max(len(self.supports), int((sizes < generator.uniform(0, FILLED)).sum()))
        window = Window(network.tokenizer, self.question, _shuffled(texts[:n_shown], generator))
        answer = normalise(self.answers[0])
        if answer in network.closed:
            return Example(window, SPAN + 1 + network.closed.index(answer))
        # The answer counts where it stands in the question or a support, not in a distractor.
        spans = window.spans(self.answers, {self.question, *self.supports})
        return Example(window, SPAN, spans) if spans else None


class Example(NamedTuple):
    """A window with what is to be found in it: the kind of answer, and all of its places if it is a span."""

    window: Window
    kind: int
    spans: Sequence[tuple[int, int]] = ()


def train_reader(base: Encoder, benchmarks: Sequence[Benchmark], learning: Learning, *, kind: str, key: str) -> Path:
    """Train on all benchmarks' training questions, choose on the first one's dev questions: the folder in the store."""
    lessons = [lesson for each in benchmarks for lesson in lessons_of(each.train, each.corpus, steps=True)]
    dev = lessons_of(benchmarks[0].dev, benchmarks[0].corpus, steps=False)
    dev = _shuffled(dev, np.random.default_rng(learning.seed))[:DEV_QUESTIONS]
    transformer, closed = base.model[0], closed_answers([lesson for lesson in lessons if not lesson.is_step])
    network = SpanNetwork(transformer.auto_model, transformer.tokenizer, closed, learning.seed)

    def period(number: int) -> Period:
        epoch, part = divmod(number, CHECKS)
        order = parts_of_epoch(_shuffled(lessons, np.random.default_rng([learning.seed, epoch])))[part]
        generator = np.random.default_rng([learning.seed, epoch, part])
        of = {made.window: made for lesson in order if (made := lesson.example(network, generator))}
        batches = [[of[window] for window in batch] for batch in batches_by_length(of, learning.tokens)]
        # The periods have nearly as many batches each, and how many is not known before they are drawn.
        total = learning.epochs * CHECKS * len(batches)
        return Period(_shuffled(batches, generator), number * len(batches), total, learning.learning_rate)

    def loss(batch: Sequence[Example]) -> Tensor:
        with mixed_precision():
            parts = network([example.window for example in batch])
        return loss_of(batch, *parts)

    def check(step: int) -> dict[str, float]:
        generator = np.random.default_rng(learning.seed)
        contexts = [_shuffled((*lesson.supports, *lesson.near)[:DEV_PASSAGES], generator) for lesson in dev]
        answers = network.answer([lesson.question for lesson in dev], contexts)
        scores = [(exact_match(one, of.answers), f1(one, of.answers)) for one, of in zip(answers, dev)]
        return dict(zip(("em", "f1"), np.mean(scores, 0).tolist()))

    upper = {"params": network.bert.encoder.layer[network.half :].parameters()}
    heads = {"params": nn.ModuleList([network.ends, network.kinds, network.marks]).parameters(), "times": HEAD_RATE}
    return train(
        network,
        torch.optim.AdamW([upper, heads], weight_decay=0.01),
        [partial(period, number) for number in range(learning.epochs * CHECKS)],
        loss,
        store=base.store,
        kind=kind,
        key=key,
        write=network.write,
        check=check if dev else None,
        latest_of_equals=True,
    )


def loss_of(batch: Sequence[Example], first: Tensor, last: Tensor, kinds: Tensor) -> Tensor:
    """Minus the mean log-likelihood: of the kind, and of a span the sum over all places where it stands."""
    likelihoods = []
    for row, example in enumerate(batch):
        likelihoods.append(kinds[row, example.kind])
        if example.kind == SPAN:
            starts, ends = map(list, zip(*example.spans))
            likelihoods[-1] = likelihoods[-1] + torch.logsumexp(first[row, starts] + last[row, ends], 0)
    return -torch.stack(likelihoods).mean()


def lessons_of(questions: Sequence[Question], corpus: Corpus, *, steps: bool) -> list[Lesson]:
    """A lesson a question that has an answer and supports; with ``steps``, one also for each step of a decomposition.

    A step teaches on one passage what a question needs several for.
    """
    found: dict[tuple[str, str], Lesson] = {}
    texts = [passage.full_text for passage in corpus.passages]
    for question in questions:
        if question.answer and question.supporting:
            supports = tuple(texts[corpus.row[id]] for id in question.supporting_ids)
            answers = (question.answer, *question.aliases)
            found[question.text, question.answer] = Lesson(question.text, answers, supports, (), False)
        for step in question.decomposition if steps else ():
            if step.answer and step.support is not None:
                text = step.filled([each.answer for each in question.decomposition])
                supports = tuple(texts[corpus.row[id]] for id in question.supporting[step.support])
                found.setdefault((text, step.answer), Lesson(text, (step.answer,), supports, (), True))
    nearest = TfidfIndex(corpus).nearest([text for text, _ in found], N_NEAR)
    return [
        lesson._replace(near=tuple(texts[row] for row in rows if texts[row] not in lesson.supports))
        for lesson, rows in zip(found.values(), nearest)
    ]


def closed_answers(lessons: Sequence[Lesson]) -> tuple[str, ...]:
    """The answers that are no span: yes and no, and common ones that the supports mostly don't hold, such as counts."""
    answers = Counter(normalise(lesson.answers[0]) for lesson in lessons)
    held = Counter(
        normalise(lesson.answers[0])
        for lesson in lessons
        if any(contains(text, lesson.answers[:1]) for text in lesson.supports)
    )
    least = max(2, COMMON * len(lessons))
    common = {answer for answer, n in answers.items() if answer and n >= least and held[answer] < n / 2}
    return ("yes", "no", *sorted(common - {"yes", "no"}))


def _shuffled(items: Sequence[Item], generator: np.random.Generator) -> list[Item]:
    return [items[place] for place in generator.permutation(len(items))]
