"""The store: whole or not at all, found again by content, rebuilt when damaged."""

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.store import Store, atomic_write, content_key


def test_values_are_found_again(tmp_path: Path) -> None:
    Store(tmp_path).put_many("thing", {b"a": b"1", b"b": b""})
    assert Store(tmp_path).get_many("thing", [b"a", b"b", b"c"]) == {b"a": b"1", b"b": b""}


def test_more_keys_than_sqlite_takes_at_once(tmp_path: Path) -> None:
    values = {str(key).encode(): b"value" * (key % 3) for key in range(33_000)}
    Store(tmp_path).put_many("thing", values)
    assert Store(tmp_path).get_many("thing", [*values, b"none"]) == values


def test_a_changed_value_counts_as_missing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_many("thing", {b"a": b"sound", b"b": b"sound"})
    with sqlite3.connect(tmp_path / "thing.sqlite") as connection:
        connection.execute("UPDATE entry SET value = ? WHERE key = ?", (b"rotten", b"a"))
    assert store.get_many("thing", [b"a", b"b"]) == {b"b": b"sound"}


@pytest.mark.parametrize("action", ["get", "put"])
def test_a_damaged_file_is_rebuilt(tmp_path: Path, action: str) -> None:
    store = Store(tmp_path)
    (tmp_path / "thing.sqlite").write_bytes(b"this was once a data base" * 100)
    with pytest.warns(UserWarning, match=r"thing\.sqlite is damaged"):
        if action == "get":
            assert store.get_many("thing", [b"a"]) == {}
        else:
            store.put_many("thing", {b"b": b"2"})
    store.put_many("thing", {b"a": b"1"})
    assert store.get_many("thing", [b"a"]) == {b"a": b"1"}


def test_atomic_write_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "new" / "file"
    atomic_write(file, b"old")
    atomic_write(file, b"new")
    assert file.read_bytes() == b"new"
    assert [path.name for path in file.parent.iterdir()] == ["file"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_texts_have_different_keys(first: list[str], second: list[str]) -> None:
    assert (content_key(*first) == content_key(*second)) == (first == second)


def write(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "weights").write_bytes(b"12345")
    (folder / "config").write_bytes(b"{}")


def test_a_folder_is_found_again_whole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.get_folder("thing", "key") is None
    folder = store.put_folder("thing", "key", write)
    assert store.get_folder("thing", "key") == folder == tmp_path / "thing" / "key"
    assert (folder / "inner" / "weights").read_bytes() == b"12345"
    store.put_folder("thing", "key", lambda folder: (folder / "other").touch())
    assert not (folder / "inner").exists() and store.get_folder("thing", "key")
    store.drop_folder("thing", "key")
    assert store.get_folder("thing", "key") is None and not list((tmp_path / "thing").iterdir())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("inner/weights", b"12354"),
        ("config", None),
        ("more", b""),
        ("checksums.json", None),
        ("checksums.json", b"\xff{"),
    ],
)
def test_a_damaged_folder_counts_as_missing(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    store = Store(tmp_path)
    folder = store.put_folder("thing", "key", write)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.warns(UserWarning, match="thing/key is damaged"):
        assert store.get_folder("thing", "key") is None
    store.put_folder("thing", "key", write)
    assert store.get_folder("thing", "key") == folder


def test_one_process_makes_what_two_want(tmp_path: Path) -> None:
    """Each would take its time to write a file with its name; the second finds the first one's."""
    code = """if True:
        import sys, time
        from pathlib import Path
        from kit.store import Store
        store = Store(Path(sys.argv[1]))
        def write(folder):
            Path(sys.argv[1], "made" + sys.argv[2]).touch()
            time.sleep(1)
            (folder / "maker").write_text(sys.argv[2])
        folder = store.get_or_make("thing", "key", lambda: store.put_folder("thing", "key", write))
        print((folder / "maker").read_text())
    """
    processes = []
    for name in "12":
        command = [sys.executable, "-c", code, str(tmp_path), name]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    printed = [process.communicate()[0] for process in processes]
    (made,) = tmp_path.glob("made*")
    assert printed == [f"{made.name[-1]}\n"] * 2


def test_an_interrupted_folder_leaves_the_old_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_folder("thing", "key", write)

    def interrupted(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.put_folder("thing", "key", interrupted)
    assert (store.get_folder("thing", "key") / "config").exists()
    assert [path.name for path in (tmp_path / "thing").iterdir()] == ["key"]
