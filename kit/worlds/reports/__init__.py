"""Four invented reports with pages and tables, as PDFs, and questions about them.

``kit data make reports`` writes them.
"""

from pathlib import Path
from random import Random

import click
import msgspec

from kit.files import atomic_write
from kit.paths import ROOT
from kit.worlds.reports.asking import ask_all
from kit.worlds.reports.printing import Report, to_pdf

NAMES = ("river", "harbour", "train", "mites")


def reports() -> list[Report]:
    """The texts of the four reports."""
    folder = Path(__file__).parent
    contents = [(folder / f"{name}.toml").read_bytes() for name in NAMES]
    return [msgspec.toml.decode(content, type=Report) for content in contents]


def write(folder: Path) -> list[Path]:
    """Write the reports, ``dev.jsonl`` and ``test.jsonl``, and return their paths.

    Each is written whole or not at all.
    """
    texts = reports()
    files = {f"{report.file}.pdf": to_pdf(report) for report in texts}
    encoder = msgspec.json.Encoder()
    for split, questions in ask_all(texts, Random(0)).items():
        files[f"{split}.jsonl"] = encoder.encode_lines(questions)
    for name, content in files.items():
        atomic_write(folder / name, content)
    return [folder / name for name in files]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "data" / "reports")
def main(folder: Path) -> None:
    """Write the reports and questions into FOLDER, by default where the committed ones lie."""
    for path in write(folder):
        click.echo(path)
