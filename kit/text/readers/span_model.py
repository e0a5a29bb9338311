"""A span network with its tokenizer and its closed answers: what reads, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tqdm.auto import tqdm
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedTokenizerBase

from kit.text.precision import mixed_precision
from kit.text.readers.network import NOWHERE, SPAN, Batch, SpanNetwork, best_span
from kit.text.readers.windows import Tokens, Window, pack, tokenise

TOKENS_AT_ONCE = 4096


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
