"""How crowded a corpus is: what is like a question's supports, and is none of them.

``python -m kit.worlds.networks.crowding FILE …`` measures published files beside the atlas and
worlds to learn from, as the table in ``data/networks/README.md`` has it.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, load
from kit.corpus.types import Questions
from kit.methods import make
from kit.worlds.atlas.statistics import stems
from kit.worlds.networks.worlds import training_worlds

MEASURED = 300  # questions of a set at most
WORLDS = 4  # of those that are measured, the last is a crowded one


def crowding(corpus: Corpus, questions: Questions) -> dict[str, float]:
    """Means over supports, sub-questions or questions of more than one hop.

    ``like-named``: other passages whose title shares a word with a support's. ``title words``:
    passages whose title shares a word with the question. ``step first``, ``step beyond 5``: the
    share of sub-questions, gold answers filled in, whose support BM25 ranks first, or not among
    five. ``mentions``: passages with the name that leads from a support to the next.
    """
    questions = [question for question in questions if question.hops > 1][:MEASURED]
    rows_of_words = _by_title_word(corpus)

    alike = []
    with_words = []
    for question in questions:
        [words] = stems([question.text])
        with_words.append(len(_rows(rows_of_words, words)))
        for carriers in question.supporting:
            row = corpus.row[carriers[0]]
            [words] = stems([corpus.passages[row].title])
            alike.append(len(_rows(rows_of_words, words) - {row}))

    ranks = _step_ranks(corpus, questions)
    return {
        "like-named": float(np.mean(alike)),
        "title words": float(np.mean(with_words)),
        "step first": ranks.eq(0).mean(),
        "step beyond 5": ranks.ge(5).mean(),
        "mentions": _mentions(corpus, questions).mean(),
    }


def _by_title_word(corpus: Corpus) -> dict[str, set[int]]:
    """The rows of the passages that have a word in their title, by its stem."""
    rows = defaultdict(set)
    for row, words in enumerate(stems([passage.title for passage in corpus.passages])):
        for word in words:
            rows[word].add(row)
    return rows


def _rows(rows_of_words: dict[str, set[int]], words: set[str]) -> set[int]:
    """The rows of any of the words."""
    rows = set()
    for word in words:
        rows |= rows_of_words.get(word, set())
    return rows


def _step_ranks(corpus: Corpus, questions: Questions) -> pd.Series:
    """From 0, the rank of each sub-question's support in BM25."""
    retriever = make("bm25")
    retriever.index(corpus)
    ranks = []
    for question in questions:
        answers = [step.answer for step in question.decomposition]
        for step in question.decomposition:
            if step.support is not None:
                ids = retriever.retrieve(step.filled(answers), len(corpus)).ids
                rank_of = {passage_id: rank for rank, passage_id in enumerate(ids)}
                carriers = question.supporting[step.support]
                ranks.append(min(rank_of.get(passage_id, len(corpus)) for passage_id in carriers))
    return pd.Series(ranks, dtype=float)


def _mentions(corpus: Corpus, questions: Questions) -> pd.Series:
    """How many passages have the answer of each sub-question that another one needs."""
    texts = [passage.full_text.lower() for passage in corpus.passages]
    bridges = Counter()
    for question in questions:
        steps = question.decomposition
        needed = set()
        for step in steps:
            if step.support is not None:
                needed.update(step.depends_on)
        bridges.update(steps[before].answer.lower() for before in needed)

    counts = []
    for bridge, times in bridges.items():
        n_texts = sum(bridge in text for text in texts)
        counts += times * [n_texts]
    return pd.Series(counts, dtype=float)


def main(files: list[str]) -> None:
    """Print the table, a row per set."""
    sets: dict[str, Benchmark] = {Path(file).parent.name: load(file) for file in files}
    sets["atlas"] = load()
    for world in training_worlds(WORLDS)[1:]:
        sets[world.name] = world
    rows = {
        name: crowding(benchmark.corpus, benchmark.test or benchmark.train)
        for name, benchmark in sets.items()
    }
    print(pd.DataFrame(rows).T.round(2).to_string())


if __name__ == "__main__":
    main(sys.argv[1:])
