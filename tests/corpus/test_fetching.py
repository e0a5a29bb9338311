"""Downloads, from a server on this machine."""

import hashlib
import io
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kit.corpus import fetch, fetching
from kit.corpus.fetching import Download
from kit.errors import InputError

CONTENT = b'[{"title": "Ode", "text": "A river."}]'
DIGEST = hashlib.sha256(CONTENT).hexdigest()
DEV = {"member": "dev.json"}
NO_DEV = r"expected an archive that holds dev\.json$"


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Put a file on the server, to be downloaded as ``rivers``; returns the file served."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))
    ) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()

        def put(name, content, **download):
            (folder / name).write_bytes(content)
            url = f"http://127.0.0.1:{serving.server_port}/{name}"
            monkeypatch.setitem(fetching.DOWNLOADS, "rivers", Download(url, **download))
            return folder / name

        yield put
        serving.shutdown()
        thread.join()


def packed(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"data/{name}.json", content)
    return sink.getvalue()


def test_a_file_with_the_known_digest_is_kept_and_not_asked_for_again(offer, tmp_path):
    served = offer("rivers.json", CONTENT, sha256=DIGEST)
    path = fetch("rivers", tmp_path / "kept")
    assert path == tmp_path / "kept" / "rivers.json" and path.read_bytes() == CONTENT
    path.write_bytes(b"damaged")
    assert fetch("rivers", tmp_path / "kept").read_bytes() == CONTENT
    served.unlink()
    assert fetch("rivers", tmp_path / "kept") == path


def test_a_member_of_a_zip_is_unpacked(offer, tmp_path):
    served = offer("all.zip", packed(other=b"{}", dev=CONTENT), member="dev.json")
    path = fetch("rivers", tmp_path / "kept")
    assert path.name == "dev.json" and path.read_bytes() == CONTENT
    served.unlink()
    assert fetch("rivers", tmp_path / "kept") == path


def tarred(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"../iirc_train_dev/{name}.json")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return sink.getvalue()


def test_members_of_tar_files_lie_beside_each_other(offer, tmp_path):
    """Wherever the archive says that they belong."""
    kept = tmp_path / "kept"
    offer("all.tgz", tarred(other=b"{}", dev=CONTENT), member="dev.json")
    assert fetch("rivers", kept) == kept / "rivers" / "dev.json"
    fetching.DOWNLOADS["rivers-articles"] = fetching.DOWNLOADS["rivers"]._replace(
        member="other.json"
    )
    try:
        path = fetch("rivers-articles", kept)
    finally:
        del fetching.DOWNLOADS["rivers-articles"]
    assert path == kept / "rivers" / "other.json" and path.read_bytes() == b"{}"
    assert (kept / "rivers" / "dev.json").read_bytes() == CONTENT
    assert not (tmp_path / "iirc_train_dev").exists()


@pytest.mark.parametrize(
    ("content", "download", "line"),
    [
        (
            CONTENT + b" ",
            {"sha256": DIGEST},
            f"^http://127.*: not the published file, whose SHA-256 is {DIGEST}: nothing kept$",
        ),
        (b"<html>", DEV, NO_DEV),
        (packed(other=CONTENT), DEV, NO_DEV),
        (tarred(other=CONTENT), DEV, NO_DEV),
        (tarred(dev=CONTENT)[:60], DEV, NO_DEV),
    ],
    ids=["another file", "no archive", "another zip", "another tar file", "half a tar file"],
)
def test_what_is_not_what_was_expected_ends_in_one_line_and_is_not_kept(
    offer, tmp_path, content, download, line
):
    offer("rivers.tgz" if content[:2] == b"\x1f\x8b" else "rivers.zip", content, **download)
    with pytest.raises(InputError, match=line):
        fetch("rivers", tmp_path / "kept")
    assert not [path for path in (tmp_path / "kept").iterdir() if path.is_file()]


def test_what_cannot_be_reached_ends_in_one_line(offer, tmp_path, monkeypatch):
    offer("rivers.json", CONTENT).unlink()
    with pytest.raises(InputError, match="cannot be downloaded: the server answered 404"):
        fetch("rivers", tmp_path / "kept")
    monkeypatch.setitem(fetching.DOWNLOADS, "rivers", Download("http://127.0.0.1:9/rivers.json"))
    with pytest.raises(
        InputError, match=r"cannot be downloaded: it cannot be reached \(ConnectionError\)$"
    ):
        fetch("rivers", tmp_path / "kept")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        fetch("rivers", tmp_path / "file" / "below")
    with pytest.raises(InputError, match="unknown data set 'lakes': expected one of hotpotqa, "):
        fetch("lakes")
