"""What a digest of code tells apart."""

from pathlib import Path

import pytest

from kit import fingerprint


def test_comments_and_docstrings_are_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    (tmp_path / "kit").mkdir()
    bodies = ('"""It returns."""; return x  # x', '"""Other."""; return x', "return -x")
    digests = []
    for index, body in enumerate(bodies):
        module = f"variant_{index}"  # another name each time, as a module is read once
        (tmp_path / "kit" / f"{module}.py").write_text(f"def f(x):\n    {body}\n")
        digests.append(fingerprint.digest_of([f"kit.{module}"]))
    assert digests[0] == digests[1] == fingerprint.code_digest("kit.variant_0")
    assert digests[2] != digests[0]
