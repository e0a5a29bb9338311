"""Files that are written: whole or not at all, through links, and not where it can't be."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from kit.errors import InputError
from kit.files import atomic_write, expect_writable


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "new" / "file"
    atomic_write(file, b"old")
    atomic_write(file, b"new")
    assert file.read_bytes() == b"new"
    assert [path.name for path in file.parent.iterdir()] == ["file"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    file.chmod(0o600)
    atomic_write(file, b"newer")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_name_as_long_as_a_file_may_have(tmp_path: Path) -> None:
    file = tmp_path / ("n" * 255)
    expect_writable(file)
    atomic_write(file, b"content")
    assert file.read_bytes() == b"content"
    with pytest.raises(InputError, match=r"can't be written \(File name too long\)"):
        expect_writable(tmp_path / ("n" * 256))


@pytest.mark.parametrize("exists", [True, False])
def test_what_a_link_leads_to_is_replaced(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "results").mkdir()
    file = tmp_path / "results" / "file"
    if exists:
        file.write_bytes(b"old")
    (tmp_path / "between").symlink_to(Path("results") / "file")
    (tmp_path / "link").symlink_to("between")
    expect_writable(tmp_path / "link")
    atomic_write(tmp_path / "link", b"new")
    assert os.readlink(tmp_path / "link") == "between" and file.read_bytes() == b"new"
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_links_that_lead_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for call in (expect_writable, lambda path: atomic_write(path, b"")):
        with pytest.raises(InputError, match="a: can't be written"):
            call(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


def test_a_pipe_gets_the_content(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    expect_writable(tmp_path / "link")
    writer = Thread(target=atomic_write, args=(tmp_path / "link", b"content"))
    writer.start()
    assert (tmp_path / "pipe").read_bytes() == b"content"
    writer.join()
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


def test_what_a_shell_puts_in_a_files_place(tmp_path: Path) -> None:
    """As of ``--json >(jq .)``: the other end of a pipe, by its descriptor."""
    source, sink = os.pipe()
    expect_writable(Path(f"/dev/fd/{sink}"))
    atomic_write(Path(f"/dev/fd/{sink}"), b"content")
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        assert pipe.read() == b"content"


def test_a_device_stays_one(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "full").symlink_to("/dev/full")
    atomic_write(tmp_path / "null", b"content")
    with pytest.raises(InputError, match=r"can't be written \(No space left on device\)"):
        atomic_write(tmp_path / "full", b"content")
    for name in ("null", "full"):
        assert (tmp_path / name).is_symlink() and Path("/dev", name).is_char_device()


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_the_own_output_keeps_its_order(tmp_path: Path, kind: str) -> None:
    """Also where it goes to a file, which must not be replaced under the one that writes it."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = """if True:
        import sys
        from pathlib import Path
        from kit.files import atomic_write
        print("before")
        atomic_write(Path(sys.argv[1]), b"content\\n")
        print("after")
    """
    command = [sys.executable, "-c", code, str(tmp_path / "link")]
    if kind == "pipe":
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    else:
        with (tmp_path / "file").open("wb") as sink:
            subprocess.run(command, stdout=sink, check=True)
        output = (tmp_path / "file").read_bytes()
    assert output == b"before\ncontent\nafter\n"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (".", "expected a file in a folder that exists"),
        ("no/file", "expected a file in a folder that exists"),
        ("dangling", "expected a file in a folder that exists"),
        ("/proc/file", "can't be written"),
        ("/proc/version", "can't be written"),
    ],
)
def test_what_can_not_be_written_is_told_and_left(tmp_path: Path, path: str, line: str) -> None:
    (tmp_path / "dangling").symlink_to("no/file")
    with pytest.raises(InputError) as caught:
        expect_writable(tmp_path / path)
    assert str(caught.value).startswith(f"{tmp_path / path}: {line}")
    assert [file.name for file in tmp_path.iterdir()] == ["dangling"]
