"""The chat server, against a real one on loopback: answers, replay, caps, retries, and what each failure says."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import ChatServer

PROMPTS = ["Where is the river?", "Where is the hill?", "Who wrote it?", "When?", "Where is the river?"]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "KIT_MOST_CALLS", "KIT_MOST_TOKENS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ask(server, tmp_path: Path) -> Callable[..., ChatServer]:
    def make(**settings: object) -> ChatServer:
        settings = {"url": server.url, "longest_answer": 6, "retries": 1, "store": Store(tmp_path)} | settings
        return ChatServer(server.model, **settings)

    return make


def failure(model: ChatServer, prompts: list[str] = PROMPTS) -> str:
    with pytest.raises(InputError) as error:
        model.generate(prompts, progress=False)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_server_answers_in_order_and_counts_tokens(ask: Callable[..., ChatServer], tokenizer) -> None:
    model = ask()
    answers = model.generate(PROMPTS, progress=False)
    assert [answer.text for answer in answers] == [ask().generate([prompt])[0].text for prompt in PROMPTS]
    assert answers[0] == answers[4]
    assert len({answer.text for answer in answers}) == 4
    # The template hands the prompt on as it is, and the server adds no special tokens.
    assert [answer.prompt_tokens for answer in answers] == [len(tokenizer.tokenize(prompt)) for prompt in PROMPTS]
    assert [answer.answer_tokens for answer in answers] == [6] * 5
    live = model.usage().iloc[0]
    assert (live["calls"], live["answer_tokens"]) == (4, 24)
    assert live["seconds"] > 0


def test_a_replay_without_the_server_gives_the_same_bytes(
    ask: Callable[..., ChatServer], server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask().generate(PROMPTS, progress=False)
    # No address, no key: nothing but the store. It asks no server, or this would be an error.
    replay = language_model(f"replay:server:{server.model}", longest_answer=6, store=Store(tmp_path))
    assert replay.generate(PROMPTS, progress=False) == first
    assert replay.usage()["calls"].tolist() == [0, 4]
    elsewhere = ask(url="http://127.0.0.1:9/v1")
    assert elsewhere.generate(PROMPTS, progress=False) == first


def test_address_and_key_come_from_the_environment(
    ask: Callable[..., ChatServer], gate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = ask(store=Store(tmp_path / "other")).generate(PROMPTS[:1])
    monkeypatch.setenv("OPENAI_BASE_URL", gate.url)
    monkeypatch.setenv("OPENAI_API_KEY", gate.key)
    answers = ask(url=None).generate(PROMPTS[:1])
    assert answers[0].text == expected[0].text
    assert gate.seen == 1


def test_killed_in_the_middle_it_is_named_and_what_was_answered_is_kept(
    start_server: Callable[[], AbstractContextManager], tmp_path: Path
) -> None:
    class KillsAfterTwo(Store):
        kept = 0

        def put_many(self, kind: str, values: dict[bytes, bytes]) -> None:
            super().put_many(kind, values)
            self.kept += len(values)
            if self.kept == 2:
                server.kill()

    with start_server() as server:
        settings = {"url": server.url, "longest_answer": 6, "retries": 1, "at_once": 1}
        model = ChatServer(server.model, store=KillsAfterTwo(tmp_path), **settings)
        line = failure(model)
    assert line.startswith(f"server:{server.model}: the server at {server.url}: can't be reached (Connect")
    assert line.endswith("(2 of 4 prompts are answered and kept)")
    replay = ChatServer(server.model, replay=True, longest_answer=6, store=Store(tmp_path))
    assert len(replay.generate(PROMPTS[:2])) == 2
    assert "no stored answer to 2 of 4 prompts" in failure(replay)


# ---- caps


def test_the_cap_on_calls(ask: Callable[..., ChatServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_MOST_CALLS", "3")
    model = ask()
    line = failure(model)
    assert line.endswith("the cap of 3 calls is reached (KIT_MOST_CALLS) (3 of 4 prompts are answered and kept)")
    assert "0 of 1 prompts" in failure(model)
    monkeypatch.setenv("KIT_MOST_CALLS", "1")
    assert len(ask().generate(PROMPTS)) == 5  # what is kept costs no call


def test_the_cap_on_tokens(ask: Callable[..., ChatServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_MOST_TOKENS", "14")  # an answer takes 5 and 6
    line = failure(ask(at_once=1))
    assert line.endswith("the cap of 14 tokens is reached (KIT_MOST_TOKENS) (2 of 4 prompts are answered and kept)")


# ---- failures


def test_trouble_is_tried_again(ask: Callable[..., ChatServer], gate) -> None:
    gate.trouble = [503, 429]
    answers = ask(url=gate.url, key=gate.key, retries=2).generate(PROMPTS[:1])
    assert answers[0].answer_tokens == 6
    assert gate.seen == 3


def test_trouble_that_stays_is_named(ask: Callable[..., ChatServer], gate) -> None:
    gate.trouble = [500] * 2
    line = failure(ask(url=gate.url, key=gate.key, at_once=1), PROMPTS[:1])
    assert f"the server at {gate.url}: status 500, tried 2 times: " in line
    assert "in trouble" in line


def test_a_wrong_key_is_refused_and_never_shown(ask: Callable[..., ChatServer], gate, tmp_path: Path) -> None:
    model = ask(url=gate.url, key="sk-wrong-and-secret")
    line = failure(model)
    assert f"the server at {gate.url}: the key was refused (status 401); it is read from OPENAI_API_KEY" in line
    for shown in (line, repr(model), model.name, model.identity, model.usage().to_csv()):
        assert "secret" not in shown
    ask(url=gate.url, key=gate.key).generate(PROMPTS)
    assert (tmp_path / "answers.sqlite").exists()
    assert all(gate.key.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_status_that_repeats_the_key_is_quoted_without_it(ask: Callable[..., ChatServer], gate) -> None:
    gate.answer = lambda authorization, body: (400, f'{{"error": "no model for {authorization}"}}'.encode())
    assert failure(ask(url=gate.url, key="sk-secret")).partition("status 400: ")[2].startswith("no model for Bearer … ")


def test_a_model_that_is_not_there(server, tmp_path: Path) -> None:
    line = failure(ChatServer("another", url=server.url, retries=0, store=Store(tmp_path)))
    assert line.startswith(f"server:another: the server at {server.url}: status 400: ")
    assert "another" in line.partition("status 400")[2]


def test_something_else_than_a_chat_completion(ask: Callable[..., ChatServer], gate) -> None:
    for content in (b'{"hello": 1}', b"[]", b"not json", b'{"choices": []}', b'{"choices": [{"message": null}]}'):
        gate.answer = lambda authorization, body, content=content: (200, content)
        assert "the reply is no chat completion; is the base URL right?" in failure(ask(url=gate.url))


def test_a_server_that_counts_no_tokens(ask: Callable[..., ChatServer], gate) -> None:
    gate.answer = lambda authorization, body: (200, b'{"choices": [{"message": {"content": "Hi"}}]}')
    (answer,) = ask(url=gate.url).generate(PROMPTS[:1])
    assert (answer.text, answer.prompt_tokens, answer.answer_tokens) == ("Hi", 0, 0)


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of one that takes calls and never speaks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_no_answer_in_time(ask: Callable[..., ChatServer], silent: int) -> None:
    line = failure(ask(url=f"http://127.0.0.1:{silent}/v1", timeout=0.1))
    assert f"the server at http://127.0.0.1:{silent}/v1: no answer within 0.1 seconds, tried 2 times" in line


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"url": None}, "expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY"),
        *(
            ({"url": url}, "expected the base URL of a server, such as http://127.0.0.1:8000/v1")
            for url in ("127.0.0.1:8000", "ftp://x/v1", "http://", "http://x:port/v1", "http://[::1/v1")
        ),
        *(
            ({"url": url}, "expected a base URL without a name, key or query in it")
            for url in ("http://me:secret@x/v1", "http://x/v1?key=secret", "http://secret@x/v1")
        ),
        ({"key": "sk-secret\nline"}, "the key in OPENAI_API_KEY holds characters that no key has"),
    ],
)
def test_a_bad_address_or_key_is_one_plain_line_and_not_shown(ask, settings: dict[str, str], expected: str) -> None:
    line = failure(ask(**settings))
    assert expected in line and "secret" not in line
    assert ask(url=None, key="sk-x").url == "https://api.openai.com/v1"  # with a key alone it is OpenAI


def test_a_bad_cap_is_one_plain_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_MOST_CALLS", "1.5")
    with pytest.raises(InputError, match="field KIT_MOST_CALLS: expected a whole number from 0"):
        ChatServer("model")
