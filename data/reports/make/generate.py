"""The reports as files: PDFs, and the questions beside them."""

from __future__ import annotations

import random
from pathlib import Path

import click
import msgspec

from kit.paths import ROOT
from kit.store import atomic_write

from .asking import ask_all
from .printing import Report, to_pdf

_TEXTS = ("river", "harbour", "train", "mites")
_SEED = 0


def reports() -> list[Report]:
    """The texts of the four reports."""
    folder = Path(__file__).parent
    return [msgspec.toml.decode((folder / f"{name}.toml").read_bytes(), type=Report) for name in _TEXTS]


def write(folder: Path) -> list[Path]:
    """Write the reports and ``dev.jsonl`` and ``test.jsonl``, each file whole or not at all, and return their paths.

    The same bytes each time.
    """
    texts = reports()
    files = {f"{report.file}.pdf": to_pdf(report) for report in texts}
    for split, asked in ask_all(texts, random.Random(_SEED)).items():
        files[f"{split}.jsonl"] = msgspec.json.Encoder().encode_lines(asked)
    for name, content in files.items():
        atomic_write(folder / name, content)
    return [folder / name for name in files]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "data" / "reports")
def main(folder: Path) -> None:
    """Write the reports and their questions into FOLDER, by default where the committed ones lie."""
    for path in write(folder):
        click.echo(path)
