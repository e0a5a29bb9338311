"""Equal names meet in whatever way their characters are composed, in every format."""

import json
import os
from pathlib import Path
from unicodedata import normalize

import pytest

from kit.corpus import check, load, load_corpus

TITLE = "Café Brüll"  # of letters that have two forms


def decomposed(value: object) -> str:
    return normalize("NFD", json.dumps(value, ensure_ascii=False))


def hotpotqa(write, form):
    context = [[normalize(form, TITLE), ["A café."]], ["Ode", ["A river."]]]
    facts = [[normalize("NFC", TITLE), 0], ["Ode", 0]]
    question = {"_id": "h", "question": "Where?", "answer": "there"}
    return write("dev.json", [question | {"context": context, "supporting_facts": facts}])


def twowiki(write, form):
    path = hotpotqa(write, form)
    [question] = json.loads(path.read_bytes())
    name = normalize("NFD" if form == "NFC" else "NFC", TITLE)
    triples = [["Ode", "at", "sea"], [name, "in", "Ode"]]
    return write("dev.json", [question | {"evidences": triples, "type": "compositional"}])


def reasongraphqa(write, form):
    fact = {"facts": normalize(form, TITLE), "relation": {"before": [], "after": []}}
    question = {
        "answer": "there",
        "question": "Where?",
        "fact": [normalize("NFC", TITLE)],
        "order_true_fact": [fact],
    }
    return write("dev.json", [question])


def beir(write, form):
    write("set/corpus.jsonl", [{"_id": normalize(form, "café"), "text": TITLE}])
    write("set/queries.jsonl", [{"_id": normalize("NFC", "qué"), "text": "Where?"}])
    row = f"{normalize(form, 'qué')}\t{normalize('NFC', 'café')}\t1\n"
    return write("set/qrels/test.tsv", row).parents[1]


def kit_folder(write, form):
    passage = {"title": TITLE, "text": TITLE, "document": "d"}
    write("own/passages.jsonl", [passage | {"id": normalize(form, "café")}])
    question = {"id": "q", "text": "Where?", "answer": "", "supporting": [["caf\u00e9"]]}
    return write("own/test.jsonl", [question]).parent


def documents(write, form):
    write(f"texts/{normalize(form, 'café')}.txt", normalize(form, f"The {TITLE} is in Lowick."))
    quoted = {"document": "caf\u00e9.txt", "text": normalize("NFC", TITLE)}
    question = {"id": "q", "text": "Where?", "answer": "Lowick", "quotes": [quoted]}
    return write("texts/test.jsonl", [question]).parent


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("example", [hotpotqa, twowiki, reasongraphqa, beir, kit_folder, documents])
def test_supports_are_found_in_both_forms(write, example, form):
    path = example(write, form)
    assert check(path) == ([], [])
    benchmark = load(path)
    [question] = benchmark.test
    passage = benchmark.corpus[question.supporting_ids[-1]]
    assert TITLE in passage.full_text or "Ode" in passage.full_text
    if example is twowiki:
        titles = [benchmark.corpus[name].title for name in question.supporting_ids]
        assert titles == ["Ode", TITLE] and question.evidence.edges == ((0, 1),)


def test_one_paragraph_in_two_forms_is_one(write):
    paragraph = [{"title": TITLE, "text": "A café."}]
    composed = write("a.json", json.dumps(paragraph, ensure_ascii=False))
    other = write("b.json", decomposed(paragraph))
    assert other.read_bytes() != composed.read_bytes()
    assert len(load_corpus([composed, other])) == 1


def test_a_document_whose_name_is_no_utf_8_is_read(write, tmp_path):
    folder = write("texts/one.txt", b"The caf\xe9 stands at Lowick.").parent
    write("texts/one.docx", "?")
    try:
        for ending in ("txt", "docx"):
            os.rename(
                folder / f"one.{ending}", os.fsencode(folder) + b"/caf\xe9." + ending.encode()
            )
    except OSError:
        pytest.skip("this file system has names in UTF-8 alone")
    problems, notes = check(folder)
    assert not problems and [line for line in notes if "caf\\udce9." in line] == notes
    with pytest.warns(UserWarning, match="and 1 more: `kit data check` tells all"):
        [passage] = load_corpus([folder]).passages
    assert passage.document == "caf\ufffd.txt" and passage.id.encode()
    problems, _ = check(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xe9.json")))
    assert problems == [f"{tmp_path}/\\udce9.json: no such file"]
