"""What makes a language model fit for a role: changes of low rank to its matrices.

LoRA (Hu et al., ICLR 2022), by peft: W + (α / r) B A, of which A (r, in) and B (out, r) learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import torch
from numpy.random import default_rng
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from kit.corpus.types import Texts
from kit.learning.trained import Trained
from kit.learning.training import Period, Slot, Trainer, parts_of_epoch, periods_of
from kit.settings import BaseSettings, Positive, Whole
from kit.store import Store, content_key
from kit.text.language_models import CausalModel, Request

if TYPE_CHECKING:
    from peft import PeftModel

NOT_LEARNED = -100  # in the place of a token's label
TOGETHER = 16  # batches whose examples are sorted by length: less padding
WEIGHTS = "adapter_model.safetensors"

Example = tuple[list[int], int]  # tokens, and how many of them are the answer's


class Pair(msgspec.Struct, frozen=True):
    """What a model is asked, and what it ought to answer."""

    request: Request
    answer: str


Pairs = Sequence[Pair]


class AdapterSettings(BaseSettings, frozen=True):
    """How an adapter learns."""

    epochs: Annotated[Positive, "times through the pairs"] = 1
    batch: Annotated[Positive, "pairs per step"] = 4
    learning_rate: Annotated[float, msgspec.Meta(gt=0, lt=1), "the highest (AdamW)"] = 1e-3
    rank: Annotated[Positive, "r of each change"] = 4
    checks: Annotated[Positive, "how often an epoch is measured on dev pairs"] = 4
    seed: Annotated[Whole, "of the first weights and the order of the pairs"] = 0


class Adapter(Trained):
    """An adapter of a causal model for one role, such as reading.

    Args:
        role: what it is for, which is only told.
        base: the model, whose own weights stay.
        settings: how it learns.
    """

    kind = "adapters"
    training_settings = AdapterSettings.__struct_fields__

    def __init__(self, role: str, base: CausalModel, settings: AdapterSettings) -> None:
        self.name = role
        self.base = base
        self.settings = settings
        self.store = Store()

    def learn(self, pairs: Pairs, dev: Pairs) -> Path:
        """The folder, as peft has it, of what was learned from the pairs; numbers are float16.

        Kept are the weights with the highest ``log_likelihood`` of the ``dev`` answers: the mean
        over their tokens, in nats.
        """
        data = content_key(msgspec.json.encode((pairs, dev)).decode()).hex()
        return self.find_or_train(data, lambda slot: self._learn(pairs, dev, slot))

    def key_parts(self) -> Texts:
        return [self.base.identity]

    def _learn(self, pairs: Pairs, dev: Pairs, slot: Slot) -> Path:
        model = adapted(self.base, self.settings)
        learning = nn.ParameterList(weight for weight in model.parameters() if weight.requires_grad)
        checked = _by_length(self._examples(dev), self.settings.batch)

        @torch.no_grad()
        def check(_: int) -> dict[str, float]:
            sums = [answer_loss(model, batch, "sum").item() for batch in checked]
            n_tokens = sum(length for batch in checked for _, length in batch)
            return {"log_likelihood": -sum(sums) / n_tokens}

        trainer = Trainer(
            learning,
            torch.optim.AdamW(learning.parameters(), weight_decay=0.0),
            partial(answer_loss, model),
            check=check,
            write=partial(_write, model),
        )
        return trainer.run(self._periods(self._examples(pairs)), slot)

    def _examples(self, pairs: Pairs) -> list[Example]:
        """Each prompt with its answer behind it, and the token that ends one."""
        examples = []
        for pair in pairs:
            answer = self.base.tokens_of_answer(pair.answer)
            examples.append((self.base.tokens_of(pair.request) + answer, len(answer)))
        return examples

    def _periods(self, examples: Sequence[Example]) -> list[Callable[[], Period]]:
        parts = []
        for epoch in range(self.settings.epochs):
            generator = default_rng([self.settings.seed, epoch])
            order = [examples[row] for row in generator.permutation(len(examples))]
            batches = []
            size = self.settings.batch
            for start in range(0, len(order), TOGETHER * size):
                batches += _by_length(order[start : start + TOGETHER * size], size)
            shuffled = [batches[row] for row in generator.permutation(len(batches))]
            parts += parts_of_epoch(shuffled, self.settings.checks)
        return periods_of(parts, self.settings.learning_rate)


def adapted(base: CausalModel, settings: AdapterSettings) -> PeftModel:
    """The model with changes of all its linear layers but the last, which alone learn."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(settings.seed)
    changes = LoraConfig(
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    _, model = base.loaded
    model = get_peft_model(model, changes)
    # It is written into the adapter, which is to name no folder of this machine.
    model.peft_config["default"].base_model_name_or_path = base.model_name
    return model


def answer_loss(model: nn.Module, batch: Sequence[Example], reduction: str = "mean") -> Tensor:
    """Cross-entropy of the answers' tokens, in nats; what stands before them is not learned."""
    n_kept = 1 + max(length for _, length in batch)
    tokens = _padded([torch.tensor(tokens) for tokens, _ in batch], 0)
    is_token = _padded([torch.ones(len(tokens), dtype=torch.long) for tokens, _ in batch], 0)
    labels = _padded([torch.tensor(tokens[-length:]) for tokens, length in batch], NOT_LEARNED)
    logits = model(
        input_ids=tokens.to(model.device),
        attention_mask=is_token.to(model.device),
        position_ids=(is_token.cumsum(1) - 1).clamp(min=0).to(model.device),
        logits_to_keep=n_kept,
    ).logits
    # Each token is foreseen where the one before it stands: (pairs, tokens, vocabulary).
    foreseen = logits[:, :-1].float().flatten(0, 1)
    return cross_entropy(
        foreseen,
        labels.flatten().to(model.device),
        ignore_index=NOT_LEARNED,
        reduction=reduction,
    )


def _padded(rows: Sequence[Tensor], value: int) -> Tensor:
    """The rows as one tensor, their ends below each other."""
    return pad_sequence(rows, batch_first=True, padding_value=value, padding_side="left")


def _by_length(examples: Sequence[Example], size: int) -> list[list[Example]]:
    """Batches of examples of like length."""
    ordered = sorted(examples, key=lambda example: len(example[0]))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _write(model: PeftModel, folder: Path) -> None:
    """As peft has it, in half precision."""
    model.save_pretrained(folder)
    weights = load_file(folder / WEIGHTS)
    save_file({name: weight.half() for name, weight in weights.items()}, folder / WEIGHTS)
    (folder / "README.md").unlink(missing_ok=True)
