"""Downloads, from a server on this machine."""

import hashlib
import http.server
import io
import threading
import zipfile

import pytest

from kit.corpus import fetch, fetching
from kit.corpus.fetching import Download
from kit.errors import InputError

CONTENT = b'[{"title": "Ode", "text": "A river."}]'


@pytest.fixture
def server(tmp_path):
    """Serves a folder; yields the folder, the address, and the list of requested paths."""
    folder = tmp_path / "served"
    folder.mkdir()
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_request(self, code="-", size="-"):
            asked.append(self.path)

        def log_error(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()
        thread.join()


@pytest.fixture
def offer(monkeypatch):
    return lambda **download: monkeypatch.setitem(fetching.DOWNLOADS, "rivers", Download(**download))


def test_a_file_with_the_known_digest_is_kept_and_not_asked_for_again(server, offer, tmp_path):
    folder, address, asked = server
    (folder / "rivers.json").write_bytes(CONTENT)
    offer(url=f"{address}/rivers.json", sha256=hashlib.sha256(CONTENT).hexdigest())
    path = fetch("rivers", tmp_path / "kept")
    assert path == tmp_path / "kept" / "rivers.json" and path.read_bytes() == CONTENT
    assert fetch("rivers", tmp_path / "kept") == path and len(asked) == 1
    path.write_bytes(b"damaged")
    assert fetch("rivers", tmp_path / "kept").read_bytes() == CONTENT and len(asked) == 2


def test_another_digest_ends_in_one_line_and_nothing_is_kept(server, offer, tmp_path):
    folder, address, _ = server
    (folder / "rivers.json").write_bytes(CONTENT + b" ")
    offer(url=f"{address}/rivers.json", sha256=hashlib.sha256(CONTENT).hexdigest())
    with pytest.raises(InputError, match=r"^http://127.*: what came has not the SHA-256 [0-9a-f]{64}: nothing kept$"):
        fetch("rivers", tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []


def packed(**members: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"data/{name}.json", content)
    return sink.getvalue()


def test_a_member_of_a_zip_is_unpacked(server, offer, tmp_path):
    folder, address, asked = server
    (folder / "all.zip").write_bytes(packed(other=b"{}", dev=CONTENT))
    offer(url=f"{address}/all.zip", member="dev.json")
    path = fetch("rivers", tmp_path / "kept")
    assert path.name == "dev.json" and path.read_bytes() == CONTENT
    assert fetch("rivers", tmp_path / "kept") == path and len(asked) == 1


@pytest.mark.parametrize("content", [b"<html>", packed(other=CONTENT)])
def test_what_is_no_such_zip_ends_in_one_line_and_is_not_kept(server, offer, tmp_path, content):
    folder, address, _ = server
    (folder / "all.zip").write_bytes(content)
    offer(url=f"{address}/all.zip", member="dev.json")
    with pytest.raises(InputError, match=r"expected a zip that holds dev\.json$"):
        fetch("rivers", tmp_path / "kept")
    assert not (tmp_path / "kept" / "rivers.zip").exists()


def test_what_cannot_be_reached_ends_in_one_line(server, offer, tmp_path):
    _, address, _ = server
    offer(url=f"{address}/absent.json")
    with pytest.raises(InputError, match="cannot be downloaded: the server answered 404"):
        fetch("rivers", tmp_path / "kept")
    offer(url="http://127.0.0.1:9/rivers.json")
    with pytest.raises(InputError, match=r"cannot be downloaded: it cannot be reached \(ConnectionError\)$"):
        fetch("rivers", tmp_path / "kept")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        fetch("rivers", tmp_path / "file" / "below")
    with pytest.raises(InputError, match="unknown data set 'lakes': expected one of hotpotqa, "):
        fetch("lakes")
