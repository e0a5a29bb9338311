"""The chat server, against a real one on loopback: answers, replay, caps, retries, failures."""

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kit import cost
from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import ChatServer

PROMPTS = [
    "Where is the river?",
    "Where is the hill?",
    "Who wrote it?",
    "When?",
    "Where is the river?",
]
Ask = Callable[..., ChatServer]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "KIT_MOST_CALLS", "KIT_MOST_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())


@pytest.fixture
def ask(server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def make(url: str = server.url, key: str = "", **settings: object) -> ChatServer:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        model = ChatServer(server.model, url=url, longest_answer=6, store=Store(tmp_path))
        vars(model).update({"retries": 1} | settings)
        return model

    return make


def failure(model: ChatServer, prompts: list[str] = PROMPTS) -> str:
    with pytest.raises(InputError) as error:
        model.generate(prompts, progress=False)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_server_answers_in_order_and_a_replay_needs_none(
    ask: Ask, server, tokenizer, tmp_path: Path
) -> None:
    model = ask()
    answers = model.generate(PROMPTS, progress=False)
    assert answers[0] == answers[4] and len({answer.text for answer in answers}) == 4
    # The template hands the prompt on as it is, and the server adds no special tokens.
    assert [answer.prompt_tokens for answer in answers] == [
        len(tokenizer.tokenize(prompt)) for prompt in PROMPTS
    ]
    assert [answer.answer_tokens for answer in answers] == [6] * 5
    live = model.usage().iloc[0]
    assert (live["calls"], live["answer_tokens"]) == (4, 24) and live["seconds"] > 0
    # No address, no key: nothing but the store. It asks no server, or this would be an error.
    replay = language_model(
        f"replay:server:{server.model}", longest_answer=6, store=Store(tmp_path)
    )
    assert replay.generate(PROMPTS, progress=False) == answers
    assert replay.usage()["calls"].tolist() == [0, 4]
    assert ask("http://127.0.0.1:9/v1").generate(PROMPTS, progress=False) == answers


def test_address_and_key_come_from_the_environment(
    ask: Ask, gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", gate.url)
    assert ask("", gate.key).generate(PROMPTS[:1]) and gate.seen == 1


def test_broken_off_in_the_middle_it_is_named_and_what_was_answered_is_kept(
    ask: Ask, server, gate
) -> None:
    gate.breaks_at = 3
    model = ask(gate.url, gate.key, at_once=1)
    line = failure(model)
    assert line.startswith(f"server:{server.model}: the server at {gate.url}: APIConnectionError: ")
    assert line.endswith("(2 of 4 prompts are answered and kept)")
    model.replay = True
    assert len(model.generate(PROMPTS[:2])) == 2


@pytest.mark.parametrize(
    ("cap", "settings", "expected"),
    [
        # An answer takes 5 and 6 tokens.
        (
            "KIT_MOST_CALLS=3",
            {},
            "the cap of 3 calls is reached (KIT_MOST_CALLS) (3 of 4 prompts are",
        ),
        (
            "KIT_MOST_TOKENS=14",
            {"at_once": 1},
            "the cap of 14 tokens is reached (KIT_MOST_TOKENS) (2 of 4 prompts are",
        ),
    ],
)
def test_caps(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, cap: str, settings: dict[str, int], expected: str
) -> None:
    monkeypatch.setenv(*cap.split("="))
    model = ask(**settings)
    assert expected in failure(model)
    assert "0 of " in failure(model)
    kept = []
    for prompt in set(PROMPTS):  # which ones were asked in time is left to chance
        with suppress(InputError):
            kept += ask(**settings).generate([prompt])  # what is kept costs nothing
    assert len(kept) == int(expected.partition(") (")[2][0])


def test_trouble_is_tried_again_and_named_where_it_stays(ask: Ask, gate) -> None:
    gate.trouble = [503, 429]
    assert ask(gate.url, gate.key, retries=2).generate(PROMPTS[:1])[0].answer_tokens == 6
    assert gate.seen == 3
    gate.trouble = [500] * 2
    line = failure(ask(gate.url, gate.key, at_once=1), PROMPTS[1:2])
    assert f"the server at {gate.url}: status 500: " in line and "in trouble" in line


def test_a_wrong_key_is_refused_and_never_shown(ask: Ask, gate, tmp_path: Path) -> None:
    model = ask(gate.url, "sk-wrong-and-secret")
    line = failure(model)
    assert f"the server at {gate.url}: the key of OPENAI_API_KEY was refused; status 401: " in line
    assert "secret" not in " ".join(
        [line, repr(model), model.name, model.identity, model.usage().to_csv()]
    )
    ask(gate.url, gate.key).generate(PROMPTS)
    assert (tmp_path / "answers.sqlite").exists()
    assert all(
        gate.key.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )
    gate.answer = lambda authorization, body: (
        400,
        f'{{"error": "no model for {authorization}"}}'.encode(),
    )
    assert "status 400: no model for Bearer … " in failure(ask(gate.url, "sk-secret"), ["?"])


def test_what_is_no_chat_completion_and_one_without_counts(ask: Ask, gate) -> None:
    for content in (
        b'{"hello": 1}',
        b"[]",
        b"not json",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
    ):
        gate.answer = lambda authorization, body, content=content: (200, content)
        assert "the reply is no chat completion; is the base URL right?" in failure(ask(gate.url))
    gate.answer = lambda authorization, body: (
        200,
        b'{"choices": [{"message": {"content": "Hi"}}]}',
    )
    (answer,) = ask(gate.url).generate(PROMPTS[:1])
    assert (answer.text, answer.prompt_tokens, answer.answer_tokens) == ("Hi", 0, 0)


def test_no_answer_in_time(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes calls and never speaks
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        assert f"the server at {url}: APITimeoutError: Request timed out" in failure(
            ask(url, timeout=0.1)
        )


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        ("", "", "expected the server's address in OPENAI_BASE_URL, or a key in OPENAI_API_KEY"),
        *(
            (url, "", "expected the base URL of a server, such as http")
            for url in ("x:8000", "ftp://x/v1", "http://")
        ),
        *(
            (url, "", "expected the base URL of a server")
            for url in ("http://x:port/v1", "http://[::1/v1")
        ),
        *(
            (f"http://{rest}", "", "without a name, key or query")
            for rest in ("me:secret@x/v1", "x/v1?key=secret")
        ),
        (
            "http://x/v1",
            "sk-secret\nline",
            "the key in OPENAI_API_KEY holds characters that no key has",
        ),
    ],
)
def test_a_bad_address_or_key_is_one_plain_line_and_not_shown(
    ask: Ask, url: str, key: str, expected: str
) -> None:
    line = failure(ask(url, key))
    assert expected in line and "secret" not in line
    assert ask("", "sk-x").url == "https://api.openai.com/v1"  # with a key alone it is OpenAI


def test_a_bad_cap_is_one_plain_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_MOST_CALLS", "1.5")
    with pytest.raises(InputError, match="field KIT_MOST_CALLS: expected a whole number from 0"):
        ChatServer("model")
