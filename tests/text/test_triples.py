"""Triples by rules, from files and by a language model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from kit.corpus import Corpus, Passage, example, load, load_corpus
from kit.errors import InputError
from kit.methods.loops.small_plan import PLANNER
from kit.store import Store
from kit.text.entities import fold
from kit.text.language_models import Answer, LanguageModel, SequenceToSequence
from kit.text.placeholders import EntityLinker
from kit.text.triples import (
    Triple,
    by_model,
    by_rules,
    by_small_model,
    by_text_to_triples,
    extract,
    fact_prompt,
    from_file,
    written_triples,
)


def corpus(*texts: tuple[str, str]) -> Corpus:
    return Corpus([Passage(str(n), title, text, title) for n, (title, text) in enumerate(texts)])


def test_rules_on_the_example() -> None:
    extractions = dict(zip((p.id for p in example().corpus.passages), by_rules(example().corpus)))
    directed = Triple("The Glass Harbour (film)", "is a silent film directed by", "Ines Moravec", 0)
    assert extractions["harbour"].triples == (directed,)
    assert extractions["moravec"].triples == (
        Triple("Ines Moravec", "She was born in", "Selby Quay", 1),
    )
    assert extractions["quay"].triples == (
        Triple("Selby Quay", "Every spring the river", "Oll", 1),
    )
    assert extractions["oll"].triples == ()
    assert extractions["harbour"].sentences[1] == "Its only print burned in a cellar."


def test_a_name_means_the_document_of_that_title_and_a_date_itself() -> None:
    texts = (
        ("Ada Venn", "Ada Venn moved to Orm on 3 July 1901; in 1950 she left."),
        ("Orm", "A town."),
    )
    statements = [("moved to", "Orm"), ("on", "3 July 1901"), ("in", "1950")]
    assert by_rules(corpus(*texts))[0].triples == tuple(
        Triple("Ada Venn", *statement, 0) for statement in statements
    )


def test_of_two_namesakes_it_means_neither() -> None:
    texts = (
        ("Reel (film)", "A film."),
        ("Reel (song)", "A song."),
        ("Ada Venn", "She wrote about Reel in a letter."),
    )
    assert by_rules(corpus(*texts))[2].triples[0].object == "Reel"


def test_most_of_the_atlas_is_found() -> None:
    """Measured by the generator's triples of training questions, which the rules never saw."""
    atlas = load()
    pairs = {
        passage.id: {
            frozenset(map(fold, (triple.subject, triple.object))) for triple in extraction.triples
        }
        for passage, extraction in zip(atlas.corpus.passages, by_rules(atlas.corpus))
    }
    is_found = [
        frozenset(map(fold, (subject, value))) in pairs[passage]
        for question in atlas.train
        for (subject, _, value), (passage,) in zip(question.triples, question.supporting)
    ]
    assert sum(is_found) / len(is_found) > 0.75  # of the rest most have a number for their object


def openie_file(folder: Path, *docs: object) -> Path:
    path = folder / "openie.json"
    path.write_text(json.dumps({"docs": docs, "avg_ent_chars": float("nan")}), "utf-8")
    return path


def test_triples_of_a_file(tmp_path: Path) -> None:
    statements = [["is", "India's first station"], ["located in", "India"], ["is"]]
    triples = [["Radio City", *statement] for statement in statements]
    doc = {
        "title": "Radio City",
        "text": "Radio City opened. It was the first of India.",
        "extracted_triples": triples,
    }
    path = openie_file(tmp_path, doc | {"idx": 1, "extracted_entities": ["India"]})
    with pytest.warns(UserWarning, match="left out 1 of the extracted triples"):
        (extraction,) = extract(load_corpus([path]), f"openie:{path}")
    assert extraction.sentences == ("Radio City opened.", "It was the first of India.")
    # No sentence has "India's first station", nor both ends: the object's, else the subject's.
    assert extraction.triples == (Triple(*triples[0], 0), Triple(*triples[1], 1))


def test_a_file_that_lacks_a_passage_or_is_unsound(tmp_path: Path) -> None:
    path = openie_file(tmp_path, {"title": "Orm", "text": "A town.", "extracted_triples": []})
    with pytest.raises(
        InputError, match="record Ada Venn: expected triples of every passage, found none of 1 of 2"
    ):
        from_file(corpus(("Orm", "A town."), ("Ada Venn", "A painter.")), path)
    path = openie_file(tmp_path, {"title": "Orm", "text": "A town."})
    with pytest.raises(InputError, match="extracted_triples"):
        from_file(corpus(("Orm", "A town.")), path)


@pytest.mark.realdata
def test_the_published_file(realdata: Path) -> None:
    path = realdata / "hipporag" / "openie_sample.json"
    made = load_corpus([path])
    with pytest.warns(UserWarning, match="left out 9 of"):
        extractions = from_file(made, path)
    assert len(extractions) == len(made) == 120
    assert (
        sum(
            triple.sentence is not None
            for extraction in extractions
            for triple in extraction.triples
        )
        > 700
    )


class Scripted(LanguageModel):
    """Writes what it is told, by what stands last in the prompt."""

    def __init__(self, store: Store, replies: Mapping[str, str]) -> None:
        super().__init__("scripted", store=store)
        self.replies, self.identity = replies, "scripted"

    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        for index, prompt in enumerate(prompts):
            last = prompt[prompt.rindex("- Input -:") :]
            reply = next(reply for part, reply in self.replies.items() if part in last)
            yield {index: Answer(reply, 1, 1, 0.0)}


def test_a_model_is_asked_for_names_and_then_for_triples(tmp_path: Path) -> None:
    made = corpus(("Ada Venn", "Ada Venn moved to Orm. She painted."), ("Orm", "A town."))
    replies = {
        '["Ada Venn", "Orm"]': (
            'Sure: {"triples": [["Ada Venn", "moved to", "Orm"], ["Ada Venn", "painted"]]}'
        ),
        "Named_entities:\n[]": "I don't know.",
        "moved to Orm": '{"named_entities": ["Ada Venn", "Orm", 7]}',
        "A town": "no list",
    }
    with pytest.warns(UserWarning, match="scripted: left out 2 of"):
        extractions = by_model(made, Scripted(Store(tmp_path), replies))
    assert [extraction.triples for extraction in extractions] == [
        (Triple("Ada Venn", "moved to", "Orm", 0),),
        (),
    ]


@pytest.mark.parametrize(
    ("reply", "n_lost"),
    [
        ('{"triples": [["Ada Venn", "moved to", "Orm"], ["Ada Venn", "saw", "Oll"], ["Ada V', 1),
        ('[["Ada Venn", "moved to", "Orm"], ["Ada Venn", "saw", "Oll"]', 1),
        ('```json\n[["Ada Venn", "moved to", "Orm"], ["Ada Venn", "saw", "Oll"]]\n```', 0),
        ('<think>[1]</think>{"triples": [["Ada Venn", "moved to", "Orm"], '
         '["Ada Venn", "saw", "Oll"],]}', 0),
    ],
)  # fmt: skip
def test_of_a_list_that_is_cut_the_whole_triples_are_kept(
    tmp_path: Path, recwarn, reply: str, n_lost: int
) -> None:
    made = corpus(("Ada Venn", "Ada Venn moved to Orm and saw Oll."))
    replies = {"Named_entities": reply, "Ada": '{"named_entities": ["Ada Venn", "Or'}
    [extraction] = by_model(made, Scripted(Store(tmp_path), replies))
    ends = [(triple.relation, triple.object) for triple in extraction.triples]
    assert ends == [("moved to", "Orm"), ("saw", "Oll")]
    messages = [str(warning.message) for warning in recwarn]
    assert messages == [
        f"scripted: left out {n_lost} of the extracted triples, which are no three texts or cut"
    ] * bool(n_lost)


@pytest.mark.parametrize(
    ("reply", "triples"),
    [
        ("(S> A| P> x| O> B), (S> A| P> y| O> C, 1901)", [["A", "x", "B"], ["A", "y", "C, 1901"]]),
        (
            "['(S> A (film)| P> x| O> B (song))', \"(S> A] P> y] O> C]\"]",
            [["A (film)", "x", "B (song)"], ["A", "y", "C"]],
        ),
        ("(S > A | P > x | O > B)\n(S> A P> y O> C)", [["A", "x", "B"], ["A", "y", "C"]]),
        ("(S> A| P> x| O> B), (S> A| P> y| O> C", [["A", "x", "B"], ["A| P> y| O> C"]]),
        ("No triples.", []),
    ],
)
def test_triples_as_ras_writes_them(reply: str, triples: list[list[str]]) -> None:
    assert [[text.strip() for text in texts] for texts in written_triples(reply)] == triples


def test_a_foreign_t5_reads_the_passage_alone_and_a_chat_model_is_told(
    tiny_t5: Path, tmp_path: Path
) -> None:
    made = corpus(("Orm", "Orm is a town."))
    t5 = SequenceToSequence(str(tiny_t5), store=Store(tmp_path))
    assert not t5.reads_placeholders and SequenceToSequence(PLANNER).reads_placeholders
    by_text_to_triples(made, t5)
    assert [prompt for prompt, _ in t5.log] == ["Orm\nOrm is a town."]

    chat = Scripted(Store(tmp_path), {})
    chat._ask = lambda prompts: [{0: Answer("(S> Orm| P> is| O> town)", 1, 1, 0.0)}]
    [extraction] = by_text_to_triples(made, chat)
    assert extraction.triples == (Triple("Orm", "is", "town", 0),)
    [(request, _)] = chat.log
    assert request.prompt == "Orm\nOrm is a town." and "format: (S> subject| P>" in request.system


def test_a_t5_is_asked_in_the_format_that_it_knows(tiny_t5: Path, own_store: Path) -> None:
    made = corpus(("Orm", "Orm is a town."))
    assert extract(made, f"t5:{PLANNER}") == by_small_model(
        made, SequenceToSequence(PLANNER, longest_answer=512), EntityLinker(made)
    )
    assert extract(made, f"t5:{tiny_t5}")[0].triples == ()


class Small(Scripted):
    def _ask(self, prompts: Sequence[str]) -> Iterator[Mapping[int, Answer]]:
        yield {
            index: Answer(self.replies[prompt], 1, 1, 0.0) for index, prompt in enumerate(prompts)
        }


def test_the_small_model_reads_sentence_by_sentence_with_numbers_for_names(tmp_path: Path) -> None:
    made = corpus(
        ("Ada Venn", "In 1950 Venn moved to Orm with Bo Lind, then Cy Moss. It rained."),
        ("Orm", "It was 7."),
    )
    replies = {
        "facts : in <n0> <new> moved to <n1> with <n2> , then <n3> .": (
            "home = <n1> , year = <n0> ; with = <n2> <n3>"
        ),
        "facts : it rained .": "none",
        "facts : it was <n0> .": "age = seven ; x = <n9> ; nonsense",
    }
    prompt, names = fact_prompt(
        EntityLinker(made),
        made.passages[0],
        "In 1950 Venn moved to Orm with Bo Lind, then Cy Moss.",
    )
    assert prompt in replies and names.entities == ["1950", "Orm", "Bo Lind", "Cy Moss"]
    first, second = by_small_model(made, Small(Store(tmp_path), replies), EntityLinker(made))
    statements = [("home", "Orm"), ("home: year", "1950"), ("with", "Bo Lind"), ("with", "Cy Moss")]
    assert first.triples == tuple(Triple("Ada Venn", *statement, 0) for statement in statements)
    assert second.triples == (Triple("Orm", "age", "seven", 0),)
