"""How encoders read: batches, long passages, prompts, vectors that are none, models to be found."""

import json
import shutil
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import huggingface_hub
import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from kit.corpus import Corpus, Passage, example
from kit.errors import InputError
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.methods import make
from kit.store import Store
from kit.text import Encoder
from kit.text.language_models import SequenceToSequence
from kit.text.parts import parts_of

SHORT = ["Oll", "a", "Ines Moravec", "Selby Quay.", "Who wrote it?"]
TEXTS = SHORT + [passage.full_text for passage in example().corpus.passages]
#: 260 words before what is asked for: more than the default encoder reads.
ANSWER = "The lighthouse at Cape Fenn was painted green in 1931."
FILLER = "The market sells apples and bread on each day of the week. "
LONG = FILLER * 22 + ANSWER


# ---- batches


@pytest.mark.parametrize("role", ["query", "document"])
def test_a_vector_does_not_depend_on_what_is_encoded_beside_it(role: str, tmp_path: Path) -> None:
    whole = Encoder(store=Store(tmp_path / "whole")).encode(TEXTS, role=role)
    alone = [
        Encoder(store=Store(tmp_path / f"{row}")).encode([text], role=role)[0]
        for row, text in enumerate(TEXTS)
    ]
    np.testing.assert_array_equal(alone, whole)

    half = Encoder(store=Store(tmp_path / "half"))
    half.encode(TEXTS[::2][::-1], role=role)
    np.testing.assert_array_equal(half.encode(TEXTS, role=role), whole)


def test_nor_do_the_states_of_lower_layers(tmp_path: Path) -> None:
    first = PartlyFrozenEncoder(Encoder(store=Store(tmp_path)), 3)
    first.kept.clear()
    alone = [first.encode([text])[0] for text in TEXTS]
    first.kept.clear()
    np.testing.assert_array_equal(first.encode(TEXTS[::-1])[::-1], alone)


# ---- long passages


def corpus() -> Corpus:
    others = [f"The {colour} mill stands beside the river." for colour in ("old", "red", "new")]
    texts = [*others, FILLER * 3, LONG]
    return Corpus(Passage(str(row), "", text, str(row)) for row, text in enumerate(texts))


@pytest.mark.parametrize("method", ["dense", "gnn-ret"])
def test_the_answer_at_the_end_of_a_long_passage_is_found_in_parts(
    method: str, own_store: Path
) -> None:
    ranks = {}
    for cut in ("end", "split"):
        retriever = make(method, cut=cut)
        retriever.index(corpus())
        with warnings.catch_warnings(record=True, action="always") as notes:
            retriever.variant(corpus=corpus())  # from the store, too
        lines = [str(note.message) for note in notes if "leaves out" in str(note.message)]
        ranking = retriever.retrieve("What colour is the lighthouse at Cape Fenn?", 5)
        ranks[cut] = ranking.ids.index("4")
        line = (
            "the encoder all-MiniLM-L6-v2 reads 256 tokens of a passage: it leaves out the end of "
            "1 of 5 (cut=split reads them in parts)"
        )
        assert lines == ([line] if cut == "end" else [])
    assert ranks["split"] == 0 < ranks["end"]


def test_the_vector_of_a_long_passage_is_the_mean_of_its_parts(tmp_path: Path) -> None:
    encoder = Encoder(store=Store(tmp_path), cut="split")
    texts = [LONG, *SHORT]
    vectors = encoder.encode(texts)
    np.testing.assert_array_equal(vectors[1:], Encoder(store=Store(tmp_path)).encode(SHORT))

    parts = parts_of(LONG, encoder.model.tokenizer, 254)
    assert len(parts) == 2
    of_parts = encoder.model.encode(parts, normalize_embeddings=True)
    mean = of_parts.sum(axis=0) / np.linalg.norm(of_parts.sum(axis=0))
    np.testing.assert_allclose(vectors[0], mean, atol=1e-6)
    # What is asked is cut, as it always was.
    question = encoder.encode([LONG], role="query")
    assert np.abs(question - vectors[0]).max() > 1e-2


@pytest.mark.parametrize("text", ["", LONG, "word " * 1000, "x" * 5000, "上海是一座大城市。" * 90])
@pytest.mark.parametrize("room", [7, 100, 254])
def test_parts_are_few_equal_and_begin_with_words(text: str, room: int) -> None:
    tokenizer = Encoder().model.tokenizer
    n_tokens = len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    parts = parts_of(text, tokenizer, room)
    assert "".join(parts) == text
    lengths = [
        len(tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"]) for part in parts
    ]
    assert max(lengths) <= room + 1  # the rest of a word may have other tokens
    if text == LONG and room > 7:
        assert len(parts) == -(-n_tokens // room)
        assert all(part[-1] in " ." for part in parts)


# ---- prompts and code


def written(model: SentenceTransformer, folder: Path) -> str:
    model.save_pretrained(str(folder), create_model_card=False)
    return str(folder)


@pytest.mark.parametrize("name", ["document", "passage", "corpus"])
def test_prompts_are_those_of_the_configuration_unless_others_are_set(
    name: str, tiny_model: str, tmp_path: Path
) -> None:
    plain = SentenceTransformer(tiny_model, local_files_only=True, device="cpu")
    model = SentenceTransformer(tiny_model, local_files_only=True, device="cpu")
    model.prompts = {"query": "question: ", name: "text: "}
    encoder = Encoder(written(model, tmp_path / "model"), Store(tmp_path))
    changed = Encoder(encoder.name, encoder.store, prompt="find: ", passage_prompt="")

    def expect(vectors: np.ndarray, prompt: str) -> None:
        expected = plain.encode([prompt + text for text in SHORT], normalize_embeddings=True)
        np.testing.assert_allclose(vectors, expected, atol=1e-6)

    for reading in (encoder, PartlyFrozenEncoder(encoder, 0)):
        expect(reading.encode(SHORT, role="query"), "question: ")
        expect(reading.encode(SHORT), "text: ")
    expect(changed.encode(SHORT, role="query"), "find: ")
    expect(changed.encode(SHORT), "")
    dense = make("dense", encoder=encoder.name, prompt="find: ", passage_prompt="")
    dense.index(example().corpus)
    assert dense.encoder.identity == changed.identity != encoder.identity


def test_code_of_a_model_runs_where_it_is_trusted(tiny_model: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Mine", "type": "mine.Mine"})
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "2_Mine").mkdir()
    code = "from sentence_transformers.models import Normalize as Mine\n"
    (folder / "mine.py").write_text(code)
    before = Encoder(str(folder)).identity
    with pytest.raises(InputError, match=r"field encoder: .* trust_remote_code=true allows it$"):
        Encoder(str(folder), Store(tmp_path)).encode(SHORT)
    trusted = Encoder(str(folder), Store(tmp_path), trust_remote_code=True)
    assert trusted.encode(SHORT).shape == (5, 32)
    (folder / "mine.py").write_text(code + "# changed\n")
    assert Encoder(str(folder)).identity != before


# ---- what is no vector


@pytest.mark.parametrize(("weight", "bias"), [(0.0, float("nan")), (0.0, 0.0)])
def test_what_is_no_vector_is_told_and_not_stored(
    weight: float, bias: float, tiny_model: str, tmp_path: Path
) -> None:
    model = SentenceTransformer(tiny_model, local_files_only=True, device="cpu")
    norm = model[0].auto_model.encoder.layer[-1].output.LayerNorm
    torch.nn.init.constant_(norm.weight, weight)
    torch.nn.init.constant_(norm.bias, bias)
    store = Store(tmp_path / "store")
    encoder = Encoder(written(model, tmp_path / "model"), store)
    line = "field encoder: expected a vector of finite numbers, not all 0, .* makes none of 'Oll'$"
    with pytest.raises(InputError, match=line) as error:
        encoder.encode(["Oll"])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "store").exists()


# ---- models to be found


class Hub(BaseHTTPRequestHandler):
    """A hub that has no model and counts how often it is asked."""

    paths: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        if "/models/" in self.path or "/resolve/" in self.path:
            self.paths.append(self.path)
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(
        huggingface_hub.constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}"
    )
    Hub.paths.clear()
    yield Hub.paths
    server.shutdown()
    server.server_close()


def test_a_hub_without_the_model_is_asked_once(hub: list[str], tmp_path: Path) -> None:
    for name, path in (("owner/none", "owner/none"), ("none", "sentence-transformers/none")):
        with pytest.raises(
            InputError, match=r"field encoder: the Hugging .* for us \(status 404\)$"
        ) as error:
            Encoder(name, Store(tmp_path)).encode(SHORT)
        assert "\n" not in str(error.value)
        assert hub == [f"/api/models/{path}"]
        hub.clear()
    with pytest.raises(InputError, match=r"t5:owner/none: no .* \(the Hugging Face hub has no"):
        SequenceToSequence("owner/none", store=Store(tmp_path)).generate(["x"], progress=False)
    assert hub == ["/api/models/owner/none"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("owner/none", "'owner/none' is no folder, not in the cache, and the hub is out of reach"),
        ("./none", "'./none' is no folder, and no name that the Hugging Face hub could have"),
    ],
)
def test_without_a_network_it_is_told_at_once(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=f"field encoder: {line}"):
        Encoder(name, Store(tmp_path)).encode(SHORT)
