"""Servers and models as they are in use: each behaves as one of a kind, on loopback."""

import json
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from time import perf_counter
from types import SimpleNamespace

import pytest

from kit import cost
from kit.corpus import example
from kit.errors import InputError
from kit.store import Store
from kit.text import language_model
from kit.text.language_models import ChatServer, Request
from kit.text.triples import extract

Reply = tuple[int, dict]  # status and content


def completion(text: str | None, finish: str = "stop", tokens: int = 2, **message: str) -> Reply:
    """A chat completion as servers write it."""
    said = {"role": "assistant", "content": text} | message
    return 200, {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
        "usage": {"prompt_tokens": 8, "completion_tokens": tokens, "total_tokens": 8 + tokens},
    }


def refusal(message: str, status: int = 400) -> Reply:
    return status, {"error": {"message": message, "type": "invalid_request_error"}}


@pytest.fixture
def world(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A server whose ``answer`` is a function of what it is sent, all of which is in ``seen``.

    ``headers`` go with every reply.
    """
    for name in ("OPENAI_API_KEY", "KIT_MOST_CALLS", "KIT_MOST_TOKENS", "KIT_THINKING_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cost, "COUNTS", cost.Counter())
    state = SimpleNamespace(seen=[], headers={}, answer=lambda sent: completion("Paris"))
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state.seen.append(sent)
            status, reply = state.answer(sent)
            content = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        state.url = f"http://127.0.0.1:{listening.server_port}/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        yield state
        listening.shutdown()


def texts(prompts: list, name: str = "server:m", **settings: object) -> list[str]:
    answers = language_model(name, **settings).generate(prompts, progress=False)
    return [answer.text for answer in answers]


def failure(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


# ---- models that think


@pytest.mark.parametrize(
    ("reply", "text", "thought"),
    [
        (completion("<think>Paris or Rome?</think>\n\nParis"), "Paris", "Paris or Rome?"),
        (completion("Paris or Rome?\n</think>\n\nParis"), "Paris", "Paris or Rome?"),
        (completion("<think></think>Paris"), "Paris", ""),
        (completion("Paris", reasoning_content="Paris or Rome?"), "Paris", "Paris or Rome?"),
        (completion("Paris", reasoning="Paris or Rome?"), "Paris", "Paris or Rome?"),
        (completion(" a < b, Paris "), " a < b, Paris ", ""),
    ],
)
def test_what_a_model_thinks_is_no_part_of_its_answer(
    world: SimpleNamespace, reply: Reply, text: str, thought: str
) -> None:
    world.answer = lambda sent: reply
    model = language_model("server:m")
    (answer,) = model.generate(["Where?"], progress=False)
    assert (answer.text, answer.thought) == (text, thought)
    assert model.log == [("Where?", answer)]
    (stored,) = language_model("replay:server:m").generate(["Where?"], progress=False)
    assert stored == answer


def thinker(sent: dict) -> Reply:
    """Thinks for 300 tokens, in the reply itself."""
    limit = sent.get("max_tokens", 10_000)
    if limit < 300:
        return completion("<think>Perhaps Rome, or per", "length", limit)
    return completion("<think>Perhaps Rome, or perhaps Paris.</think>Paris", "stop", 302)


def hidden_thinker(sent: dict) -> Reply:
    """Thinks for 300 tokens that nobody sees."""
    limit = sent["max_tokens"]
    return completion("", "length", limit) if limit < 300 else completion("Paris", "stop", 302)


@pytest.mark.parametrize("kind", [thinker, hidden_thinker])
def test_a_model_that_thinks_gets_more_tokens_once_it_is_found_out(
    world: SimpleNamespace, kind: Callable[[dict], Reply]
) -> None:
    world.answer = kind
    assert texts(["Where?"]) == ["Paris"]
    assert [sent["max_tokens"] for sent in world.seen] == [64, 4160]
    # Another object of the same process knows it from the start.
    assert texts(["Where now?"], longest_answer=9) == ["Paris"]
    assert [sent["max_tokens"] for sent in world.seen[2:]] == [4105]


def test_a_thought_without_a_beginning_has_room_where_it_is_known(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The template has the opening mark, so that a thought that is cut looks like an answer."""

    def answer(sent: dict) -> Reply:
        if sent["max_tokens"] < 300:
            return completion("Perhaps Rome, or per", "length", sent["max_tokens"])
        return completion("Perhaps Rome, or perhaps Paris.</think>Paris", "stop", 302)

    world.answer = answer
    monkeypatch.setenv("KIT_THINKING_TOKENS", "500")
    assert texts(["Where?"]) == ["Paris"] and [s["max_tokens"] for s in world.seen] == [564]


def test_an_answer_that_never_began_is_an_error_and_is_not_stored(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.answer = thinker
    monkeypatch.setenv("KIT_THINKING_TOKENS", "100")
    line = failure(lambda: texts(["Where?"]))
    assert line == (
        f"server:m: the server at {world.url}: the reply was cut at 164 tokens, before its answer "
        "began; a model that thinks longer needs larger KIT_THINKING_TOKENS "
        "(0 of 1 prompts are answered and kept)"
    )
    assert "no stored answer" in failure(lambda: texts(["Where?"], "replay:server:m"))
    monkeypatch.setenv("KIT_THINKING_TOKENS", "300")
    assert texts(["Where?"]) == ["Paris"]


def test_a_cut_answer_is_marked_and_counted_and_kept(world: SimpleNamespace) -> None:
    world.answer = lambda sent: completion("Paris, which is the", "length", 64)
    model = language_model("server:m")
    (answer,) = model.generate(["Where?"], progress=False)
    assert answer.is_cut and answer.text == "Paris, which is the" and len(world.seen) == 1
    assert model.usage()["cut"].tolist() == [1, 0]
    assert "cut at the longest length 1;" in cost.cost_line()
    replay = language_model("replay:server:m")
    assert replay.generate(["Where?"]) == [answer] and replay.usage()["cut"].tolist() == [0, 1]


# ---- servers that refuse


def strict(**refusals: str) -> Callable[[dict], Reply]:
    """A server that refuses a request with one of these names in it."""

    def answer(sent: dict) -> Reply:
        for name, message in refusals.items():
            if name in sent:
                return refusal(message)
        return completion("Paris")

    return answer


OPENAI_SAYS = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model. "
    "Only the default (1) value is supported.",
}


def test_what_a_server_refuses_is_left_out_from_then_on(world: SimpleNamespace) -> None:
    world.answer = strict(**OPENAI_SAYS)
    assert texts(["Where?"]) == ["Paris"]
    assert len(world.seen) == 3 and "temperature" not in world.seen[-1]
    assert world.seen[-1]["max_completion_tokens"] == 64
    assert texts(["When?", "Who?"]) == ["Paris", "Paris"] and len(world.seen) == 5


def test_a_server_may_refuse_any_limit(world: SimpleNamespace) -> None:
    names = ("max_tokens", "max_completion_tokens")
    world.answer = strict(**{name: f"Extra inputs are not permitted: {name}" for name in names})
    assert texts(["Where?"]) == ["Paris"]
    assert sorted(world.seen[-1]) == ["messages", "model", "temperature"]


def test_a_refusal_of_something_else_is_told(world: SimpleNamespace) -> None:
    world.answer = lambda sent: refusal(
        "max_tokens is too large: 64. This model's maximum context length is 50 tokens"
    )
    line = failure(lambda: texts(["Where?"]))
    assert "status 400: max_tokens is too large" in line
    assert len(world.seen) == 1
    # A temperature that was chosen is not left out.
    world.answer = strict(temperature=OPENAI_SAYS["temperature"])
    line = failure(lambda: texts(["Where?"], "server:m,temperature=0.5"))
    assert "'temperature' does not support" in line


def test_a_pause_that_the_server_names_is_kept(world: SimpleNamespace) -> None:
    world.headers = {"Retry-After": "2"}
    world.answer = lambda sent: (
        refusal("slow down", 429) if len(world.seen) == 1 else completion("Paris")
    )
    start = perf_counter()
    assert texts(["Where?"]) == ["Paris"] and len(world.seen) == 2
    assert perf_counter() - start > 1.9  # without the header it is at most half a second


# ---- what is sent


def test_a_request_has_a_system_message_and_examples(world: SimpleNamespace) -> None:
    examples = (("1 + 1", "2"), ("2 + 2", "4"))
    request = Request("3 + 3", system="Only the number.", examples=examples)
    assert texts([request, "3 + 3"]) == ["Paris", "Paris"]
    sent = max((sent["messages"] for sent in world.seen), key=len)
    assert [(message["role"], message["content"]) for message in sent] == [
        ("system", "Only the number."),
        ("user", "1 + 1"),
        ("assistant", "2"),
        ("user", "2 + 2"),
        ("assistant", "4"),
        ("user", "3 + 3"),
    ]
    model = language_model("replay:server:m")
    # A request that is no more than its prompt is that prompt, with the key that it always had.
    assert model.key_of(Request("3 + 3")) == model.key_of("3 + 3")
    assert model.key_of("3 + 3").hex() == "04889e3fc2a6ea427aec1e1ccda9210c"
    others = [
        Request("3 + 3", system="Only the number."),
        Request("3 + 3", examples=examples),
        Request("3 + 3", system="1 + 1", examples=(("2", "2 + 2"),)),
    ]
    assert len({model.key_of(other) for other in [request, "3 + 3", *others]}) == 5
    assert "the first being “3 + 3”" in failure(lambda: model.generate(others))


def test_temperature_and_seed_stand_behind_the_name(world: SimpleNamespace) -> None:
    names = ["server:m", "server:m,temperature=0.7", "server:m,temperature=0.7,seed=1"]
    for name in names:
        assert texts(["Where?"], f"{name}@{world.url}") == ["Paris"]
    sampled = [(sent["temperature"], sent.get("seed")) for sent in world.seen]
    assert sampled == [(0, None), (0.7, None), (0.7, 1)]
    assert {sent["model"] for sent in world.seen} == {"m"}
    assert texts(["Where?"], f"replay:{names[2]}") == ["Paris"]
    for name, expected in {
        "server:m,heat=1": "server:m has no setting 'heat'; it has temperature, seed",
        "server:m,temperature=hot": "field temperature: expected a number from 0 to 2, not 'hot'",
        "server:m,seed=-1": "field seed: expected a whole number from 0, not -1",
        "server:,seed=1": "expected a language model as",
    }.items():
        assert expected in failure(lambda name=name: language_model(name))


def test_who_answered_and_when_is_kept(world: SimpleNamespace) -> None:
    status, reply = completion("Paris")
    reply |= {"model": "m-2026-01-01", "system_fingerprint": "fp_44"}
    world.answer = lambda sent: (status, reply)
    (answer,) = language_model("server:m").generate(["Where?"], progress=False)
    assert answer.version == "m-2026-01-01 fp_44"
    assert len(answer.date) == len("2026-01-01") and answer.finish_reason == "stop"


# ---- many requests


def test_halves_of_characters_are_replaced_and_told(world: SimpleNamespace) -> None:
    world.answer = lambda sent: completion("P\ud83dris 😀")
    with pytest.warns(UserWarning, match="server:m: halves of characters in a reply"):
        assert texts(["Where is \udc80?", "Who?"]) == ["P\ufffdris 😀"] * 2
    assert {sent["messages"][0]["content"] for sent in world.seen} == {"Where is \ufffd?", "Who?"}
    with warnings.catch_warnings(action="error"):
        assert texts(["Who?"], "replay:server:m") == ["P\ufffdris 😀"]


def test_a_failure_loses_none_of_the_other_answers(world: SimpleNamespace) -> None:
    are_under_way = Event()

    def answer(sent: dict) -> Reply:
        prompt = sent["messages"][0]["content"]
        if prompt == "bad":
            are_under_way.wait(10)
            return refusal("no such question")
        if len(world.seen) == 4:
            are_under_way.set()
        return completion(prompt.upper())

    world.answer = answer
    line = failure(lambda: texts(["bad", "a", "b", "c"]))
    assert "no such question" in line and "(3 of 4 prompts are answered and kept)" in line
    assert texts(["a", "b", "c"], "replay:server:m") == ["A", "B", "C"]


def test_a_slow_call_holds_up_no_other(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_others_seen = Event()
    prompts = ["slow", *(f"Who? {index}" for index in range(9))]

    def answer(sent: dict) -> Reply:
        if len(world.seen) == len(prompts):
            all_others_seen.set()
        if sent["messages"][0]["content"] == "slow":
            assert all_others_seen.wait(20)
        return completion("Paris")

    world.answer = answer
    monkeypatch.setenv("KIT_CALLS_AT_ONCE", "2")
    start = perf_counter()
    assert texts(prompts) == ["Paris"] * 10 and perf_counter() - start < 15
    monkeypatch.setenv("KIT_CALLS_AT_ONCE", "0")
    assert failure(lambda: language_model("server:m")) == (
        "field KIT_CALLS_AT_ONCE: expected a whole number from 1, not 0"
    )


def test_who_stops_waiting_asks_no_more(world: SimpleNamespace) -> None:
    """As after Ctrl-C: the prompts that wait are not sent first."""
    answers = ChatServer("m")._ask([f"Who? {index}" for index in range(200)])
    next(answers)
    answers.close()
    assert len(world.seen) < 100


def test_calls_at_once(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the environment says are with the server at the same time, and no more."""
    now_asked, most, lock, is_full = [0], [0], Lock(), Event()

    def answer(sent: dict) -> Reply:
        with lock:
            now_asked[0] += 1
            most[0] = max(now_asked[0], most[0])
            if now_asked[0] == 7:
                is_full.set()
        is_full.wait(10)
        with lock:
            now_asked[0] -= 1
        return completion("Paris")

    world.answer = answer
    monkeypatch.setenv("KIT_CALLS_AT_ONCE", "7")
    texts([f"Who? {index}" for index in range(20)])
    assert most == [7] and is_full.is_set()


# ---- what it costs


def test_all_models_of_a_process_have_their_caps_in_common(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_MOST_CALLS", "2")
    for index in range(3):
        prompts = [f"Who? {index}"]
        if index < 2:
            assert texts(prompts) == ["Paris"]
        else:
            assert "the cap of 2 calls is reached (KIT_MOST_CALLS)" in failure(
                lambda prompts=prompts: texts(prompts)
            )
    assert len(world.seen) == 2


def test_tries_count_as_calls(world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_MOST_CALLS", "2")
    world.answer = lambda sent: refusal("in trouble", 500)
    assert "the cap of 2 calls is reached" in failure(lambda: texts(["Where?"]))
    assert len(world.seen) == 2


def test_one_line_says_what_a_run_cost(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cost.cost_line() == ""
    model = language_model("server:m")
    model.generate(["Where?", "Who?"], progress=False)
    model.generate(["Where?"], progress=False)
    cost.count(unread=1)
    assert cost.cost_line() == (
        "language models: requests to servers 2; new answers 2 (tokens: 16 read, 4 written); "
        "stored answers 1; cut at the longest length 0; not understood 1"
    )


def test_replies_that_are_not_understood_are_counted(world: SimpleNamespace) -> None:
    passages = example().corpus.passages
    with pytest.warns(UserWarning, match="left out 6 of the extracted triples"):
        extract(example().corpus, "server:m")
    assert cost.cost_line().endswith(f"; not understood {len(passages)}")


def test_a_reply_of_parts_or_of_nothing(world: SimpleNamespace, tmp_path: Path) -> None:
    for reply in (
        completion([{"type": "text", "text": "Paris"}]),
        completion("Paris", reasoning=["Rome?"]),
        completion("Paris", finish=1),
    ):
        world.answer = lambda sent, reply=reply: reply
        assert "the reply is no chat completion" in failure(lambda: texts(["Where?"]))
    world.answer = lambda sent: completion(None, "content_filter")
    model = ChatServer("m", store=Store(tmp_path))
    (answer,) = model.generate(["Where?"], progress=False)
    assert (answer.text, answer.finish_reason) == ("", "content_filter")
