"""Example files of every format, mutated at random: each is read, or told in one plain line.

Some 300 by default; KIT_MUTATIONS=20000 makes more, 4 % of them of PDFs. What fails is
named by format and index, from which it is made again.
"""

import copy
import gzip
import json
import os
import random
import shutil
import unicodedata
import warnings

import pytest

from kit.corpus import check, export, load, load_corpus, load_training
from kit.corpus.records import writable
from kit.errors import InputError

N_MUTATIONS = int(os.environ.get("KIT_MUTATIONS", "300"))
#: Example to its share of the mutations; reading a PDF takes long.
SHARES = {
    "hotpotqa": 0.12,
    "twowiki": 0.12,
    "musique": 0.12,
    "reasongraphqa": 0.08,
    "iirc": 0.1,
    "quality": 0.06,
    "beir": 0.12,
    "hipporag": 0.06,
    "openie": 0.08,
    "kit_folder": 0.1,
    "texts": 0.04,
    "documents": 0.04,
}
TEXTS = ["", " ", "\ud800", "a\0b", "e\u0301", "Ada Brill", "#1 of #2", "x" * 5000, "\u202e", "\n"]
VALUES = [None, True, -1, 0, 7, 1.5, 10**30, [], {}, [[]], {"a": []}, ["a", 0], *TEXTS]


def examples(request, write, name):
    """The files of an example, and what of them is loaded."""
    if name in ("beir", "kit_folder", "documents"):
        return request.getfixturevalue(name)
    if name == "iirc":
        return request.getfixturevalue(name).parent
    if name == "texts":
        write(
            "texts/ode.md", "# Ode\n\nThe *Ode* is a river. It is rich in eel.\n\n## Mouth\n\nSea."
        )
        write("texts/marl.txt", "MARL\n\nMarl is a town.\nIt burned in 1820.\n")
        page = (
            "<html><title>Lowick</title><p>Lowick lies on the <b>Ode</b>.<p>It has a mill.</html>"
        )
        return write("texts/lowick.html", page).parent
    paragraphs = [{"title": f"T{n}", "text": f"Text {n} of \u00e9."} for n in range(4)]
    if name == "hipporag":
        return write("corpus.json", paragraphs)
    if name == "openie":
        return write("openie.json", {"docs": paragraphs, "mean": 2.5})
    suffix = ".jsonl" if name in ("musique", "quality") else ".json"
    return write(f"dev{suffix}", request.getfixturevalue(name))


# ---- mutations of bytes


def flip(rng, data):
    position = rng.randrange(len(data))
    return data[:position] + bytes([data[position] ^ 1 << rng.randrange(8)]) + data[position + 1 :]


def cut(rng, data):
    start, end = sorted(rng.choices(range(len(data) + 1), k=2))
    return rng.choice([data[:start], data[end:], data[:start] + data[end:]])


def insert(rng, data):
    position = rng.randrange(len(data) + 1)
    pieces = [rng.randbytes(rng.randint(1, 9)), b"\0", b"[" * 9000, b'\\ud800"', b"\xff", b"\r\n"]
    return data[:position] + rng.choice(pieces) + data[position:]


def exchange(rng, data):
    first, second, third = sorted(rng.choices(range(len(data) + 1), k=3))
    return data[:first] + data[second:third] + data[first:second] + data[third:]


def change_lines(rng, data):
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    del lines[rng.randrange(len(lines))]
    rng.shuffle(lines)
    return b"".join(lines)


def encode(rng, data):
    text = data.decode("utf-8", "replace")
    encoding = rng.choice(["latin-1", "utf-16", "utf-16-be", "utf-32", "utf-8-sig", "utf-7"])
    begun = rng.choice([b"", b"", b"\xff\xfe", b"PK\3\4", b"\x1f\x8b", b"id,text\n"])
    return begun + rng.choice([data, text.encode(encoding, "replace")])


def pack(rng, data):
    return gzip.compress(data)


BYTES = [flip, cut, insert, exchange, change_lines, encode, pack]


# ---- mutations of what JSON holds


def read_json(data):
    """The records and whether they are lines; TypeError where there are none."""
    try:
        return json.loads(data), False
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.strip()], True


def positions(value, holders):
    """Each list or object with each of its keys."""
    for key in value if isinstance(value, dict) else range(len(value)):
        holders.append((value, key))
        if isinstance(value[key], dict | list):
            positions(value[key], holders)
    return holders


def change_value(rng, holder, key, others):
    value = holder[key]
    if isinstance(value, str) and rng.random() < 0.5:
        text = rng.choice(TEXTS)
        holder[key] = rng.choice([value + text, text + value, unicodedata.normalize("NFD", value)])
    else:
        holder[key] = rng.choice(VALUES)


def drop(rng, holder, key, others):
    del holder[key]


def repeat(rng, holder, key, others):
    if isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[rng.choice(["id", "_id", "docs", "data"])] = holder[key]


def swap(rng, holder, key, others):
    other, other_key = rng.choice(others)
    first = copy.deepcopy(holder[key])
    second = copy.deepcopy(other[other_key])
    holder[key] = second
    if other is not holder or other_key != key:
        other[other_key] = first


VALUE_CHANGES = [change_value, drop, repeat, swap]


def change_json(rng, data):
    value, are_lines = read_json(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        everywhere = positions(value, [])
        if everywhere:
            holder, key = rng.choice(everywhere)
            rng.choice(VALUE_CHANGES)(rng, holder, key, everywhere)
    if are_lines:
        return "".join(json.dumps(record) + "\n" for record in value).encode()
    if rng.random() < 0.05:
        value = {"data": value}
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


# ---- a mutation of an example


def mutate(rng, root):
    """Change one of the files, or which files there are."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    file = rng.choice(files)
    other = rng.choice(files)
    chance = rng.random()
    if chance < 0.02:
        file.unlink()
    elif chance < 0.04:
        file.write_bytes(other.read_bytes())
    elif chance < 0.05:
        file.rename(file.with_name(rng.choice(["caf\u00e9", "caf\udce9"]) + file.suffix))
    else:
        data = file.read_bytes()
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            mutation = rng.choice(BYTES)
            if file.suffix in (".json", ".jsonl") and rng.random() < 0.6:
                mutation = change_json
            try:
                data = mutation(rng, data)
            except (IndexError, TypeError, ValueError, RecursionError):
                pass  # nothing is left, or no JSON
        file.write_bytes(data)


def read_in_every_way(rng, path, out):
    """Check, load, learn from, export; an InputError is one line that can be written."""
    lines = [line for report in check(path) for line in report]
    setting = rng.choice(["pooled", "pooled", "per-question", "facts"])

    def write_out():
        benchmark = load(path, setting=setting)
        export(benchmark, out, rng.choice(["kit", "beir"]))
        return benchmark.corpus

    for read in (
        write_out,
        lambda: load(path, corpus=[path]).corpus,
        lambda: load_corpus([path]),
        lambda: load_training([path], setting=setting).corpus,
    ):
        try:
            corpus = read()
        except InputError as error:
            lines.append(str(error))
        else:
            assert corpus.hash
            texts = "".join(passage.full_text for passage in corpus.passages)
            assert texts == writable(texts)
    for line in lines:
        assert "\n" not in line and line.encode()


@pytest.mark.parametrize("name", SHARES)
def test_a_mutated_file_is_read_or_told(request, write, tmp_path, name):
    original = examples(request, write, name)
    root = tmp_path / "mutated"
    for index in range(round(N_MUTATIONS * SHARES[name])):
        rng = random.Random(f"{name} {index}")
        path = root / original.name
        if original.is_dir():
            shutil.copytree(original, path)
        else:
            root.mkdir()
            shutil.copy(original, path)
        mutate(rng, root)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                questions = path / "dev.json" if name == "iirc" else path
                read_in_every_way(rng, questions, root / "out")
        except Exception as error:
            error.add_note(f"mutation {index} of {name}, in {path}")
            raise
        shutil.rmtree(root)
