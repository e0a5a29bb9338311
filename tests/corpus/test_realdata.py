"""The samples of the published data sets."""

from collections import Counter

import pytest

from kit.corpus import load, load_corpus

pytestmark = pytest.mark.realdata

#: File: questions, distinct paragraphs, hops, and (or None) the sizes of their collections.
FILES = {
    "hotpotqa/dev.json": (100, 996, {2: 100}, {10: 100}),
    "hotpotqa/train.json": (100, 994, {2: 100}, {10: 99, 4: 1}),
    "2wikimultihopqa/dev.json": (
        81,
        660,
        {2: 60, 4: 21},
        {10: 79, 9: 2},
    ),  # two contexts list a paragraph twice
    "2wikimultihopqa/train.json": (500, 3112, {2: 408, 4: 92}, None),
    "musique/dev.jsonl": (100, 1786, {2: 72, 3: 16, 4: 12}, {20: 100}),
    "musique/train.jsonl": (100, 1890, {2: 68, 3: 27, 4: 5}, None),
}
TYPES = {
    "hotpotqa/dev.json": {"bridge": 67, "comparison": 33},
    "2wikimultihopqa/dev.json": {
        "compositional": 28,
        "comparison": 27,
        "bridge_comparison": 21,
        "inference": 5,
    },
    "musique/dev.jsonl": {"2hop": 72, "3hop1": 15, "4hop1": 9, "4hop3": 2, "4hop2": 1, "3hop2": 1},
}


@pytest.mark.parametrize("file", FILES)
def test_counts(realdata, file):
    n_questions, n_passages, hops, sizes = FILES[file]
    benchmark = load(realdata / file)
    assert (len(benchmark.test), len(benchmark.corpus)) == (n_questions, n_passages)
    assert Counter(question.hops for question in benchmark.test) == hops
    if file in TYPES:
        assert Counter(question.type for question in benchmark.test) == TYPES[file]
    if sizes:
        assert (
            Counter(map(len, load(realdata / file, setting="per-question").collections.values()))
            == sizes
        )


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("setting", ["pooled", "per-question"])
def test_every_support_is_in_what_the_question_is_asked_of(realdata, file, setting):
    benchmark = load(realdata / file, setting=setting)
    for question in benchmark.test:
        collection = benchmark.collection(question)
        assert question.supporting and all(name in collection for name in question.supporting_ids)
        assert question.evidence is None or question.evidence.n_nodes == question.hops
        assert all(
            step.support is None or step.support < question.hops for step in question.decomposition
        )


def test_every_2wiki_sub_question_has_its_own_support_and_names_it(realdata):
    benchmark = load(realdata / "2wikimultihopqa/train.json")
    named = total = 0
    for question in benchmark.test:
        assert sorted(step.support for step in question.decomposition) == list(range(question.hops))
        for step in question.decomposition:
            title = benchmark.corpus[question.supporting[step.support][0]].title.partition(" (")[0]
            named += title.casefold() in step.text.casefold()
            total += 1
    assert named / total > 0.97  # the rest are other spellings of the name


def test_musique_supports_hold_the_answers_of_their_steps(realdata):
    benchmark = load(realdata / "musique/dev.jsonl")
    steps = [(question, step) for question in benchmark.test for step in question.decomposition]
    texts = [
        benchmark.corpus[question.supporting[step.support][0]].full_text.casefold()
        for question, step in steps
    ]
    held = [step.answer.casefold() in text for (_, step), text in zip(steps, texts)]
    assert sum(held) / len(held) > 0.9
    assert all(len(question.decomposition) == question.hops for question in benchmark.test)
    assert all(question.evidence is not None for question in benchmark.test)


def test_corpora_load_and_merge_with_the_questions_they_belong_to(realdata):
    assert len(load_corpus([realdata / "2wikimultihopqa/corpus.json"])) == 6119
    samples = [realdata / "hipporag/corpus_sample.json", realdata / "hipporag/openie_sample.json"]
    assert [len(load_corpus(files)) for files in (samples, samples[:1], samples[1:])] == [120] * 3
    benchmark = load(
        realdata / "2wikimultihopqa/dev.json", corpus=[realdata / "2wikimultihopqa/corpus.json"]
    )
    assert len(benchmark.corpus) == 660 + 6119 - 226  # 226 of the paragraphs are in both
