"""What a digest of code tells apart."""

from pathlib import Path

import pytest

from kit import fingerprint


def test_comments_and_docstrings_are_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "CHECKOUT", tmp_path)
    monkeypatch.setattr(fingerprint, "PACKAGE", tmp_path / "kit")
    (tmp_path / "kit").mkdir()
    bodies = ('"""It returns."""; return x  # x', '"""Other."""; return x', "return -x")
    digests = []
    for index, body in enumerate(bodies):
        module = f"variant_{index}"  # another name each time, as a module is read once
        (tmp_path / "kit" / f"{module}.py").write_text(f"def f(x):\n    {body}\n")
        digests.append(fingerprint.digest_of([f"kit.{module}"]))
    assert digests[0] == digests[1] == fingerprint.code_digest("kit.variant_0")
    assert digests[2] != digests[0]


def test_what_an_editor_leaves_is_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprint, "CHECKOUT", tmp_path)
    monkeypatch.setattr(fingerprint, "PACKAGE", tmp_path / "kit")
    room = tmp_path / "kit" / "room"
    room.mkdir(parents=True)
    for folder in (room.parent, room):
        (folder / "__init__.py").touch()
    (room / "walk.py").write_bytes(b"def f(x):\n    return x\n")
    (room / "sizes.toml").write_bytes(b"small = 1\n")
    digest = fingerprint.package_digest()

    checkpoints = room / ".ipynb_checkpoints"
    checkpoints.mkdir()
    (checkpoints / "walk-checkpoint.py").write_text("not Python at all (")
    (checkpoints / "sizes-checkpoint.toml").write_text("small = 2")
    (room / ".DS_Store").write_bytes(b"\xff\xfe")
    (room / "walk.cpython-311.pyc").write_bytes(b"\xff")
    (room / "walk.py.orig").write_bytes(b"\xff")
    (room / "walk-Copy1.py").write_text("x = 1\n")
    for name in ("walk.py", "sizes.toml"):  # as a checkout on Windows has them
        content = (room / name).read_bytes().replace(b"\n", b"\r\n")
        (room / name).write_bytes(content)
    assert fingerprint.package_digest() == digest

    (room / "sizes.toml").write_text("small = 2\n")
    assert fingerprint.package_digest() != digest
