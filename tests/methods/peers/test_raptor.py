"""The tree of summaries: each level covers all passages, and the collapsed tree by hand."""

import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.corpus.sentences import split_sentences
from kit.errors import InputError
from kit.methods import make

STORY = "Which river floods the birthplace of the director of the film The Glass Harbour?"


@pytest.fixture
def raptor(indexed):
    return indexed("raptor", group=2, sentences=2, brought=1)


def test_every_level_covers_all_passages_once(raptor) -> None:
    rows = []
    for summary in raptor.summaries:
        rows += summary.rows.tolist()
        if len(rows) % 6 == 0:
            assert sorted(rows[-6:]) == list(range(6))
    assert len(raptor.summaries) == 3 + 2  # of six passages, then of three summaries
    assert len(rows) == 12


def test_a_summary_has_sentences_of_its_passages_in_their_order(raptor) -> None:
    texts = [passage.full_text for passage in example().corpus.passages]
    for summary in raptor.summaries[:3]:
        below = [part for row in summary.rows for part in split_sentences(texts[row])]
        assert summary.text == " ".join(part for part in below if part in summary.text)
        assert 1 <= len(split_sentences(summary.text)) <= 2


def test_the_sentences_nearest_to_the_mean_are_central(raptor) -> None:
    sentences = ["A river floods.", "A river floods the town.", "Bread is baked at night."]
    assert raptor._central(sentences) == "A river floods. A river floods the town."


def test_the_collapsed_tree_by_hand(raptor) -> None:
    [vector] = raptor.encoder.encode([STORY], role="query")
    likeness = raptor.vectors @ vector
    nodes = [(float(value), [row]) for row, value in enumerate(likeness)]
    for summary, value in zip(raptor.summaries, raptor.summary_vectors @ vector):
        nodes.append((float(value), sorted(summary.rows, key=lambda row: -likeness[row])))
    expected = []
    for _, rows in sorted(nodes, key=lambda node: -node[0]):
        expected += [row for row in rows if row not in expected][:1]
    ranking = raptor.retrieve(STORY, 6)
    assert ranking.ids == raptor.ids(expected)
    assert np.allclose(ranking.scores, 1 / np.arange(1, 7))


def test_a_small_corpus_has_no_summary(indexed) -> None:
    corpus = Corpus([Passage(name, "", f"The river {name}.", name) for name in "ab"])
    raptor = indexed("raptor", corpus)
    assert raptor.summaries == []
    assert raptor.retrieve("river b", 2).ids == ("b", "a")


def test_a_summary_of_one_node_would_never_end() -> None:
    with pytest.raises(InputError, match="group"):
        make("raptor", group=1)
