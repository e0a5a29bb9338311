"""Four invented reports with pages and tables, as PDFs, and questions about them (``kit data make reports``)."""

import random
from pathlib import Path

import click
import msgspec

from kit.paths import ROOT
from kit.store import atomic_write
from kit.worlds.reports.asking import ask_all
from kit.worlds.reports.printing import Report, to_pdf


def reports() -> list[Report]:
    """The texts of the four reports."""
    files = (
        Path(__file__).parent / f"{name}.toml" for name in ("river", "harbour", "train", "mites")
    )
    return [msgspec.toml.decode(file.read_bytes(), type=Report) for file in files]


def write(folder: Path) -> list[Path]:
    """Write the reports and ``dev.jsonl`` and ``test.jsonl``, each file whole or not at all, and return their paths."""
    texts = reports()
    files = {f"{report.file}.pdf": to_pdf(report) for report in texts}
    for split, asked in ask_all(texts, random.Random(0)).items():
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
