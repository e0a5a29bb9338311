"""The store: whole or not at all, found again by content, rebuilt when damaged."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import InputError
from kit.store import Store, content_key


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


# ---- what the disk refuses

CALLS = {
    "expect": Store.expect_writable,
    "put": lambda store: store.put_many("thing", {b"a": b"1"}),
    "put a folder": lambda store: store.put_folder("thing", "key", write),
    "make": lambda store: store.get_or_make("thing", "key", lambda: pytest.fail("it is made")),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("folder", ["/proc/store", "file", "file/store"])
def test_a_folder_that_can_not_be_written_is_told(
    tmp_path: Path, call: Callable, folder: str
) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / folder)
    assert store.get_many("thing", [b"a"]) == {} and store.get_folder("thing", "key") is None
    with pytest.raises(InputError) as caught:
        call(store)
    line = f"{store.folder}: can't be written ("
    assert str(caught.value).startswith(line)
    assert str(caught.value).endswith("); KIT_CACHE names another folder")


@pytest.mark.parametrize("action", ["put", "put a folder"])
def test_a_full_disk_is_told_and_what_was_kept_stays(tmp_path: Path, action: str) -> None:
    """No file may become larger than 64 kB, in a process of its own."""
    Store(tmp_path).put_many("thing", {b"old": b"1"})
    Store(tmp_path).put_folder("thing", "key", write)
    code = """if True:
        import resource, sys
        from pathlib import Path
        import numpy as np
        from safetensors.numpy import save_file
        from kit.errors import InputError
        from kit.store import Store
        resource.setrlimit(resource.RLIMIT_FSIZE, (64_000, 64_000))
        store = Store(Path(sys.argv[1]))
        def write(folder):
            save_file({"weights": np.zeros(100_000)}, folder / "weights.safetensors")
        try:
            if sys.argv[2] == "put":
                store.put_many("thing", {b"new": bytes(1_000_000), b"small": b"2"})
            else:
                store.put_folder("thing", "key", write)
        except InputError as error:
            print(error)
    """
    command = [sys.executable, "-c", code, str(tmp_path), action]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tmp_path}: can't be written (")
    assert done.stdout.count("\n") == 1 and not done.stderr
    assert Store(tmp_path).get_many("thing", [b"old", b"new", b"small"]) == {b"old": b"1"}
    folder = Store(tmp_path).get_folder("thing", "key")
    assert (folder / "config").read_bytes() == b"{}"
    assert not list((tmp_path / "thing").glob(".key.*"))


def test_a_locked_file_is_waited_for_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.put_many("thing", {b"a": b"1"})
    with sqlite3.connect(tmp_path / "thing.sqlite", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr("kit.store._PATIENCE", 0.1)
        for call in (CALLS["put"], lambda store: store.get_many("thing", [b"a"])):
            with pytest.raises(
                InputError, match=r"\(database is locked\); KIT_CACHE names another"
            ):
                call(store)
        other.execute("COMMIT")
    assert store.get_many("thing", [b"a"]) == {b"a": b"1"}


def test_a_value_that_is_too_large_does_not_cost_the_others(tmp_path: Path) -> None:
    """SQLite's errors are all of one family; only a damaged file is begun anew."""
    store = Store(tmp_path)
    store.put_many("thing", {b"a": b"1"})
    with sqlite3.connect(tmp_path / "thing.sqlite") as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    with pytest.raises(InputError, match=r"\(no\); KIT_CACHE"):
        store.put_many("thing", {b"b": b"2"})
    assert store.get_many("thing", [b"a", b"b"]) == {b"a": b"1"}


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """A hundred transactions each into one file, which is there whole; no log that a network file
    system could not keep."""
    code = """if True:
        import sys
        from pathlib import Path
        from kit.store import Store
        store = Store(Path(sys.argv[1]))
        for i in range(100):
            key = f"{sys.argv[2]} {i}".encode()
            store.put_many("thing", {key: key * 100})
            assert store.get_many("thing", [key]) == {key: key * 100}
    """
    command = [sys.executable, "-c", code, str(tmp_path)]
    processes = [
        subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in "ab"
    ]
    assert [process.communicate()[1] for process in processes] == ["", ""]
    keys = [f"{name} {i}".encode() for name in "ab" for i in range(100)]
    assert Store(tmp_path).get_many("thing", keys) == {key: key * 100 for key in keys}
    with sqlite3.connect(tmp_path / "thing.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert [file.name for file in tmp_path.iterdir()] == ["thing.sqlite"]


def test_a_store_is_read_where_it_can_not_be_written(tmp_path: Path) -> None:
    """As a class shares its teacher's: no byte is written, which the system would refuse."""
    store = Store(tmp_path)
    store.put_many("thing", {b"a": b"1"})
    store.put_folder("thing", "key", write)
    code = """if True:
        import resource, sys
        from pathlib import Path
        from kit.store import Store
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        store = Store(Path(sys.argv[1]))
        print(store.get_many("thing", [b"a"]), store.get_folder("thing", "key") is not None)
    """
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "{b'a': b'1'} True\n"
