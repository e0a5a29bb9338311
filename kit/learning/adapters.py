"""What makes a language model fit for a role: changes of low rank to its matrices.

LoRA (Hu et al., ICLR 2022), by peft: W + (α / r) B A, of which A (r, in) and B (out, r) learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import torch
from numpy.random import Generator, default_rng
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kit.corpus.types import Texts
from kit.learning.trained import Trained
from kit.learning.training import Period, Slot, Trainer, parts_of_epoch, periods_of
from kit.precision import device
from kit.settings import BaseSettings, Positive, Whole
from kit.store import Store, content_key
from kit.text.language_models import CausalModel, Request

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel

WEIGHTS = "adapter_model.safetensors"
READ_AT_ONCE = 16  # examples of a GPU

Item = TypeVar("Item")
Example = tuple[list[int], int]  # tokens, and how many of them are the answer's
CallsModel = Callable[[Tensor, int], Tensor]  # as of :func:`foreseen`


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
    most_tokens: Annotated[Positive, "of a pair; longer ones are left out"] = 1_000
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
        checked = self._examples(dev)

        @torch.no_grad()
        def check(_: int) -> dict[str, float]:
            return {"log_likelihood": -answer_loss(partial(foreseen, model), checked).item()}

        trainer = Trainer(
            learning,
            torch.optim.AdamW(learning.parameters(), weight_decay=0.0),
            partial(answer_loss, partial(foreseen, model)),
            check=check,
            write=partial(_write, model),
        )
        folder = trainer.run(self._periods(self._examples(pairs)), slot)
        released(model)
        return folder

    def _examples(self, pairs: Pairs) -> list[Example]:
        """Each prompt with its answer behind it, and the token that ends one."""
        examples = []
        for pair in pairs:
            answer = self.base.tokens_of_answer(pair.answer)
            examples.append((self.base.tokens_of(pair.request) + answer, len(answer)))
        return [example for example in examples if len(example[0]) <= self.settings.most_tokens]

    def _periods(self, examples: Sequence[Example]) -> list[Callable[[], Period]]:
        parts = []
        for epoch in range(self.settings.epochs):
            generator = default_rng([self.settings.seed, epoch])
            batches = shuffled_batches(examples, self.settings.batch, generator)
            parts += parts_of_epoch(batches, self.settings.checks)
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
    model.set_attn_implementation("sdpa")  # right where nothing is padded, and far less memory
    model = get_peft_model(model, changes)
    # It is written into the adapter, which is to name no folder of this machine.
    model.peft_config["default"].base_model_name_or_path = base.model_name
    return model


def released(model: PeftModel) -> PreTrainedModel:
    """The base with its own weights alone, as it was before."""
    base = model.unload()
    base.set_attn_implementation("eager")
    return base


def answer_loss(model: CallsModel, batch: Sequence[Example]) -> Tensor:
    """Mean cross-entropy of the answers' tokens, in nats; what stands before them is not learned.

    A GPU reads examples together, a CPU one by one, so that nothing is padded.
    """
    at_once = READ_AT_ONCE if device() == "cuda" else 1
    losses = []
    for start in range(0, len(batch), at_once):
        examples = batch[start : start + at_once]
        begins = [len(tokens) - n_of_answer for tokens, n_of_answer in examples]
        longest = max(len(tokens) for tokens, _ in examples)
        # Padded behind, where no token before it looks.
        padded = [tokens + [0] * (longest - len(tokens)) for tokens, _ in examples]
        behind = longest - min(begins) + 1
        logits = model(torch.tensor(padded), behind)

        for row, (tokens, n_of_answer) in enumerate(examples):
            # Each token is foreseen where the one before it stands: (of the answer, vocabulary).
            first = begins[row] - 1 - (longest - behind)
            answer = torch.tensor(tokens[-n_of_answer:], device=logits.device)
            of_answer = logits[row, first : first + n_of_answer].float()
            losses.append(cross_entropy(of_answer, answer, reduction="sum"))
    return torch.stack(losses).sum() / sum(n_of_answer for _, n_of_answer in batch)


def foreseen(model: nn.Module, tokens: Tensor, n: int) -> Tensor:
    """The logits at the last ``n`` places: (prompts, tokens) → (prompts, n, vocabulary)."""
    return model(input_ids=tokens.to(model.device), logits_to_keep=n).logits


def shuffled_batches(
    examples: Sequence[Item], size: int, generator: Generator
) -> list[Sequence[Item]]:
    """All examples in an order by chance."""
    order = [examples[row] for row in generator.permutation(len(examples))]
    return [order[start : start + size] for start in range(0, len(order), size)]


def _write(model: PeftModel, folder: Path) -> None:
    """As peft has it, in half precision."""
    model.save_pretrained(folder, save_embedding_layers=False)  # they did not learn
    weights = load_file(folder / WEIGHTS)
    save_file({name: weight.half() for name, weight in weights.items()}, folder / WEIGHTS)
    (folder / "README.md").unlink(missing_ok=True)
