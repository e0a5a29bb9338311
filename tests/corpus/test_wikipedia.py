"""Whole pages, from a server on this machine that answers as MediaWiki's API does."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import pytest
from click.testing import CliRunner

from kit.corpus import load_corpus, wikipedia
from kit.corpus.wikipedia import as_text, fetch_pages
from kit.errors import InputError
from kit.lab.commands.data import data

PAGES = {
    "Ode": "The Ode is a river.\n\n\n== Course ==\nIt rises in Marl.\nIt is long.\n\n== Notes ==\n",
    "Marl": "Marl is a town.",
    "Ada Brill": "Ada Brill painted boats.",
    ".hack": "A series.",
    "AC/DC": "A band.",
}
REDIRECTS = {"A. Brill": "Ada Brill"}


@pytest.fixture
def api(monkeypatch):
    """The server's address; one whole page in an answer, then it has to be continued."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.seen.append(
                dict(parse_qs(urlparse(self.path).query), agent=self.headers["User-Agent"])
            )
            if server.failing:
                self.send_response(server.failing.pop(0))
                self.send_header("Retry-After", "0")
                self.end_headers()
                return
            content = server.content or json.dumps(server.answer(server.seen[-1])).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *parts):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.seen = []
        server.failing = []
        server.content = b""
        server.answer = answer
        monkeypatch.setattr(wikipedia, "API", f"http://127.0.0.1:{server.server_port}/w/api.php")
        monkeypatch.setattr(wikipedia, "WAIT", 0)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def answer(query):
    """As with formatversion=2: all pages in each answer, the text of the next of them only."""
    assert query["action"] == ["query"] and query["explaintext"] == ["1"]
    wanted = query["titles"][0].split("|")
    normal = {title: title[:1].upper() + title[1:] for title in wanted}
    redirected = [title for title in normal.values() if title in REDIRECTS]
    titles = sorted({REDIRECTS.get(title, title) for title in normal.values()})
    there = [title for title in titles if title in PAGES]
    position = int(query.get("excontinue", ["0"])[0])
    pages = [
        {"title": title} if title in PAGES else {"title": title, "missing": True}
        for title in titles
    ]
    for page in pages:
        if there[position : position + 1] == [page["title"]]:
            page["extract"] = PAGES[page["title"]]
    changes = [{"from": a, "to": b} for a, b in normal.items() if a != b]
    reply = {"query": {"pages": pages, "normalized": changes}}
    reply["query"]["redirects"] = [{"from": title, "to": REDIRECTS[title]} for title in redirected]
    if position + 1 < len(there):
        reply["continue"] = {"excontinue": position + 1, "continue": "||"}
    return reply


def test_pages_come_in_batches_that_are_continued_and_are_a_corpus(api, tmp_path, monkeypatch):
    monkeypatch.setattr(wikipedia, "BATCH", 4)
    monkeypatch.setenv("KIT_CONTACT", "ada@example.org")
    titles = ["ode", "Marl", "A. Brill", "Nowhere", ".hack", "AC/DC"]
    with pytest.warns(UserWarning, match="^1 of 6 titles have no page: Nowhere …$"):
        folder = fetch_pages(titles, tmp_path / "pages")
    assert [len(query["titles"][0].split("|")) for query in api.seen] == [4, 4, 4, 2, 2]
    assert all("(ada@example.org)" in query["agent"] for query in api.seen)

    corpus = load_corpus([folder])
    texts = {passage.title: [] for passage in corpus}
    for passage in corpus:
        texts[passage.title].append(passage.text)
    assert texts == {
        "ode": ["The Ode is a river.", "Course\nIt rises in Marl.\nIt is long."],
        "Marl": ["Marl is a town."],
        "A. Brill": ["Ada Brill painted boats."],
        ".hack": ["A series."],
        "AC/DC": ["A band."],
    }


def test_what_is_there_is_not_asked_for_again(api, tmp_path):
    fetch_pages(["Marl"], tmp_path)
    (tmp_path / "Marl.txt").write_text("changed")
    fetch_pages(["Marl", "Ode"], tmp_path)
    assert [query["titles"] for query in api.seen] == [["Marl"], ["Ode"]]
    assert (tmp_path / "Marl.txt").read_text() == "changed"


def test_an_interrupted_call_has_kept_what_had_come(api, tmp_path):
    """The second answer of a batch is an error."""

    def refuses_to_go_on(query):
        if "excontinue" in query:
            return {"error": {"code": "x", "info": "Out of order."}}
        return answer(query)

    api.answer = refuses_to_go_on
    with pytest.raises(InputError, match=r"api\.php: the API refused: Out of order\.$"):
        fetch_pages(["Marl", "Ode"], tmp_path)
    api.answer = answer
    assert [file.name for file in tmp_path.iterdir()] == ["Marl.txt"]
    fetch_pages(["Marl", "Ode"], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2 and api.seen[-1]["titles"] == ["Ode"]


def test_a_busy_server_is_asked_again_and_a_broken_one_told(api, tmp_path, monkeypatch):
    api.failing = [503, 429]
    fetch_pages(["Marl"], tmp_path)
    assert len(api.seen) == 3 and (tmp_path / "Marl.txt").exists()
    api.failing = [404]
    with pytest.raises(InputError, match=r"the server answered 404 \(HTTPError\)$"):
        fetch_pages(["Ode"], tmp_path)
    for content in (b"<html>", b'{"query": {"pages": [{"extract": "x"}]}}', b"[]"):
        api.content = content
        with pytest.raises(InputError, match="not what MediaWiki's API says"):
            fetch_pages(["Ode"], tmp_path)
    monkeypatch.setattr(wikipedia, "API", "http://127.0.0.1:9/")
    with pytest.raises(InputError, match="it cannot be reached"):
        fetch_pages(["Ode"], tmp_path)


def test_a_page_as_text_has_its_headings_and_none_at_the_end() -> None:
    text = as_text("Ode", PAGES["Ode"] + "=== Sources ===")
    assert text.splitlines() == [
        "Ode",
        "====",
        "",
        "The Ode is a river.",
        "",
        "Course",
        "----",
        "",
        "It rises in Marl.",
        "",
        "It is long.",
    ]


def test_the_command_takes_the_titles_of_supports(api, write, hotpotqa, tmp_path, monkeypatch):
    monkeypatch.setattr("kit.lab.commands.data.downloads", lambda: tmp_path)
    path = str(write("dev.json", hotpotqa))
    with pytest.warns(UserWarning, match="1 of 2 titles have no page: Grey Ferry"):
        result = CliRunner().invoke(data, ["fetch", "wikipedia", "--of", path, "--questions", "1"])
    assert result.output.strip().endswith(str(tmp_path / "hotpotqa-dev-pages"))
    assert api.seen[0]["titles"] == ["Grey Ferry|Ada Brill"]
    for wrong in (["wikipedia"], ["musique", "--of", path]):
        result = CliRunner().invoke(data, ["fetch", *wrong])
        assert isinstance(result.exception, InputError)
