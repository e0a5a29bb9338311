"""Where what the kit makes goes."""

import os
from pathlib import Path

from kit import paths


def test_a_clone_holds_what_is_made(monkeypatch):
    monkeypatch.delenv("KIT_OUTPUT", raising=False)
    monkeypatch.delenv("KIT_CACHE", raising=False)

    assert paths.output() == paths.CHECKOUT
    assert paths.cache() == paths.CHECKOUT / "data" / "cache"


def test_a_read_only_clone_leaves_it_to_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("KIT_OUTPUT", raising=False)
    monkeypatch.delenv("KIT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    may_write = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != paths.CHECKOUT and may_write(path, mode)
    )

    assert paths.output().is_relative_to(tmp_path)
    assert paths.cache().is_relative_to(paths.output())
    assert paths.downloads().is_relative_to(paths.output())


def test_what_is_named_counts(monkeypatch, tmp_path):
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path / "results"))
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "store"))

    assert paths.output() == tmp_path / "results"
    assert paths.cache() == tmp_path / "store"
