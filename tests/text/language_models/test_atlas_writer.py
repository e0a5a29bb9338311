"""The committed evidence writer: small, safe to read, and it names what it has read of."""

from __future__ import annotations

import json
from pathlib import Path

from kit.paths import ROOT
from kit.store import Store
from kit.text.language_models import EVIDENCE_WRITER, SequenceToSequence, language_model
from kit.text.language_models.atlas_writer import SEEDS, SETTINGS
from kit.text.prompts import prefixed_evidence_prompt

FOLDER = ROOT / EVIDENCE_WRITER


def test_its_files_are_small_and_hold_no_code() -> None:
    files = {file.name: file.stat().st_size for file in FOLDER.iterdir()}
    assert {Path(name).suffix for name in files} == {".json", ".safetensors"}
    assert sum(files.values()) < 15e6


def test_its_training_is_told() -> None:
    rows = json.loads((FOLDER / "history.json").read_text("utf-8"))
    losses = [row["dev_loss"] for row in rows]
    assert len(rows) <= SETTINGS.epochs
    assert losses == sorted(losses, reverse=True)  # it was still getting better, epoch by epoch
    assert 0 not in SEEDS  # the seed of the embedded atlas


def test_it_is_found_from_anywhere_and_writes_names_that_it_has_never_met(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = language_model(f"t5:{EVIDENCE_WRITER}", store=Store(tmp_path))
    assert isinstance(model, SequenceToSequence)
    question = "Which prize did the person who directed the film Quiet Thackaberry receive?"
    support = "Quiet Thackaberry Quiet Thackaberry is a 1950 film directed by Osmund Pellwick."
    first, later = model.generate([prefixed_evidence_prompt(question, read) for read in ([], [support])])
    assert "Thackaberry" in first.text
    assert "Osmund" in later.text  # which no word of the question says
