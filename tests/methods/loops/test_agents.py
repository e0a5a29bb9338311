"""Agents by hand: what is asked of a graph, what they are told, and what is read of their replies."""

import pytest

from kit.corpus import Query, example
from kit.methods import agents
from kit.methods.loops.agents import (
    ChatAgent,
    Hole,
    SmallAgent,
    Step,
    Trajectory,
    begun_plan,
    read_plan,
)
from kit.text.language_models import BEGUN
from kit.text.placeholders import Placeholders

CORPUS, (TOWN, RIVER) = example().corpus, example().test

ASKED = "Which river floods the birthplace of Ines Moravec?"
BORN, FLOODED = ("Ines Moravec", "born in", "Selby Quay"), ("Selby Quay", "flooded by", "Oll")
HARBOUR, MORAVEC, QUAY = (CORPUS.row[id] for id in ("harbour", "moravec", "quay"))
BY, SHE = "is a silent film directed by", "She was born in"
FILM, PLACE = ("The Glass Harbour (film)", BY, "Ines Moravec"), ("Ines Moravec", SHE, "Selby Quay")
SMALL_PLAN = f"subq <n0> > {BY} = <n1> ; sufficient", f"subq <n1> > {SHE} = <n2> ;", "sufficient"


def test_a_hole_is_filled_from_either_end() -> None:
    assert Hole("ines moravec", "born in").answers([BORN, FLOODED]) == ["Selby Quay"]
    assert Hole("Oll", "flooded by", backward=True).answers([BORN, FLOODED]) == ["Selby Quay"]
    assert Hole("Oll", "flooded by").answers([BORN, FLOODED]) == []
    assert (
        Hole("Oll", "flooded by").text == "Oll flooded by"
        and Hole("Oll", "flooded by", True).text == "flooded by Oll"
    )


def test_several_holes_are_filled_by_what_fits_all() -> None:
    triples = [("A", "x", "P"), ("B", "x", "P"), ("b", "y", "Q"), ("C", "y", "Q")]
    both = Step("", (Hole("P", "x", True), Hole("Q", "y", True)))
    assert both.read(triples) == ("B",) and both.read(triples[:2]) == () == Step("a sentence").read(
        triples
    )


def test_a_sentence_has_the_answers_where_the_hole_is() -> None:
    hole = Hole("Oll", "flooded by", True)
    assert Step(hole.text, (hole,), answers=("Quay", "Orm")).sentence == "Quay Orm flooded by Oll"
    assert Step("Who?", answers=("Ada",)).sentence == "Who? Ada" and Step("Who?").sentence == "Who?"


def test_a_trajectory_tells_what_was_found_and_how_far_it_was() -> None:
    hole = Hole("Ines Moravec", "born in")
    steps = [
        Step("a", rows=(4, 2, 3), triples=(BORN,)),
        Step("b", (hole,), answers=("Selby Quay",)),
        Step("c", rows=(5,), triples=(FLOODED,)),
    ]
    of = Trajectory(TOWN.query, steps, {BORN: 3, FLOODED: 5}, agents.SUFFICIENT)
    # Row 3 answered b; then the first of each retrieval, the second, the third, without repeats.
    assert of.rows == [3, 4, 5, 2] and of.n_retrievals == 2
    assert of.up_to(2) == Trajectory(TOWN.query, steps[:2], {BORN: 3}, agents.SUBQ)
    assert of.up_to(3) == of and of.up_to(0).rows == []


def test_each_passage_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, extract = [], agents.extract
    monkeypatch.setattr(agents, "extract", lambda *given: read.append(given[2]) or extract(*given))
    reader = agents.FactReader(CORPUS, "rules")
    assert reader.facts([[MORAVEC, HARBOUR], [HARBOUR]]) == [
        {PLACE: MORAVEC, FILM: HARBOUR},
        {FILM: HARBOUR},
    ]
    assert (
        reader.facts([[HARBOUR]]) == [{FILM: HARBOUR}]
        and reader.facts([[]]) == [{}]
        and reader.facts([]) == []
    )
    of = Trajectory(
        TOWN.query, [Step("", (Hole("Ines Moravec", SHE),), (MORAVEC, QUAY))], {FILM: HARBOUR}
    )
    reader.read([of], 1)  # the second passage is not read
    assert (of.steps[0].triples, of.steps[0].answers) == ((PLACE,), ("Selby Quay",))
    assert of.graph == {FILM: HARBOUR, PLACE: MORAVEC} and read == [sorted([MORAVEC, HARBOUR])]
    reader.read([of], 1)
    assert of.steps[0].triples == ()  # nothing new
    reader.read(
        [Trajectory(it.query, [Step("", rows=(row,))]) for it, row in ((TOWN, QUAY), (RIVER, 4))], 1
    )
    assert read[1:] == [[QUAY, 4]]  # those of all questions at once


def test_gold_knows_the_sub_questions_and_their_answers() -> None:
    agent, whole = agents.GoldAgent(), Step(TOWN.text)
    told = [
        "Who directed the film The Glass Harbour? Ines Moravec",
        "In which town was Ines Moravec born? Selby Quay",
    ]
    begun = [[], [whole], [whole, Step("a")], [whole, Step("a"), Step("b")]]
    going = [Trajectory(TOWN.gold_query, steps) for steps in begun]
    first, second = agents.gold_steps(TOWN.gold_query)
    assert agent.plan(going) == [first, first, second, None]
    thoughts = [Step(text, answers=step.answers) for text, step in zip(told, (first, second))]
    assert agent.think(going, 1) == [thoughts[0], *thoughts, None]
    assert agent.draft(going, 1) == ["", told[0], " ".join(told), " ".join(told)]
    assert agent.suffices(going) == [False] * 4 and agent.model is None


def test_the_small_agent_thinks_with_what_its_graph_answers(scripted) -> None:
    agent = SmallAgent(scripted(*SMALL_PLAN), CORPUS, "rules")
    of = Trajectory(TOWN.query, [Step(TOWN.text)], {FILM: HARBOUR})
    for text, answers in (
        (f"Glass Harbour {BY} Ines Moravec", ("Ines Moravec",)),
        (f"Ines Moravec {SHE}", ()),
    ):
        [thought] = agent.think([of], 1)
        assert (thought.text, thought.answers) == (text, answers)
        of.steps.append(thought)
    assert agent.think([of], 1) == [None]


@pytest.mark.parametrize(
    ("top_k", "ended", "drafted"),
    [
        (2, agents.SUFFICIENT, f"Ines Moravec {SHE} Selby Quay"),
        (1, "not found", f"Ines Moravec {SHE}"),
    ],
)
def test_the_small_agent_drafts_by_the_passages_of_the_last_step(
    scripted, top_k, ended, drafted
) -> None:
    agent = SmallAgent(scripted(*SMALL_PLAN), CORPUS, "rules")
    of = Trajectory(TOWN.query, [Step("x", rows=(MORAVEC,)), Step("y", rows=(HARBOUR, MORAVEC))])
    assert agent.draft([of], top_k) == [f"Glass Harbour {BY} Ines Moravec; {drafted}"]
    [found] = agent.reason([TOWN.query], [of.steps[1].rows[:top_k]])
    assert found.ended == ended and len(of.steps) == 2 and of.graph == found.graph


def test_the_small_planner_reads_numbers_and_goes_on_from_its_steps(scripted) -> None:
    model = scripted("subq <n1> > flooded by = <n2> ; sufficient", "sufficient")
    planner = SmallAgent(model, CORPUS, "rules")
    first = Step(
        "Ines Moravec born in", (Hole("Ines Moravec", "born in"),), answers=("Selby Quay",)
    )
    whole = Step(ASKED)  # the question itself is no step of the small planner's
    [step] = planner.plan([Trajectory(Query("q", ASKED), [whole, first])])
    assert model.prompts == [
        f"plan : which river floods the birthplace of <n0> ? {BEGUN} subq <n0> > born in = <n1> ;",
    ]
    assert step == Step("Selby Quay flooded by", (Hole("Selby Quay", "flooded by"),))
    assert planner.plan([Trajectory(Query("q", ASKED), [whole])]) == [None]
    failed = Step("", (Hole("Oll", "source", True), Hole("Selby Quay", "on")))
    assert begun_plan([failed], Placeholders()) == "subq <n0> < source & <n1> > on = nothing ;"


@pytest.mark.parametrize(
    "reply", ["sufficient", "", "subq <n5> > born in = <n1> ;", "subq <n0> born in", "subq oll > x"]
)
def test_what_is_no_sub_question_about_known_names_ends_the_plan(reply: str) -> None:
    names = Placeholders()
    names.of("Oll")
    assert read_plan(reply, names) is None


def test_a_chat_model_is_told_the_triples_of_each_step(scripted) -> None:
    model = scripted("[SUBQ] Which river floods Selby Quay?\nBecause", "[NO_RETRIEVAL]")
    begun = Trajectory(Query("q", ASKED), [Step(ASKED, triples=(BORN,))])
    found = ChatAgent(model, CORPUS).plan([begun, Trajectory(Query("q", "Who?"))])
    assert found == [Step("Which river floods Selby Quay?"), Step("[NO_RETRIEVAL]")]
    told = '[SUBQ] Which river floods the birthplace of Ines Moravec?\n\nRetrieved Graph Information: ["(S> Ines Moravec| '
    assert f'{told}P> born in| O> Selby Quay)"]\n\nQuestion: {ASKED}' in model.prompts[0]
    assert model.prompts[1].endswith("with the provided information.\n\nQuestion: Who?")


def begun() -> Trajectory:
    """Two retrievals, of which the first is answered."""
    first = Step("Who directed it?", rows=(HARBOUR, QUAY), answers=("Ines Moravec",))
    return Trajectory(TOWN.query, [first, Step("Where was she born?", rows=(MORAVEC,))])


@pytest.mark.parametrize(
    ("asked", "reply", "expected"),
    [
        ("ras", "[SUBQ] Where?\n[SUBQ] Who?", Step("Where?")),
        *(
            ("ras", reply, None)
            for reply in ("[SUFFICIENT]\n[SUBQ] Who?", "It is insufficient.", "[SUBQ] ", "")
        ),
        (
            "selfask",
            "Are follow up questions needed here: Yes.\nFollow up: Where?\nMore",
            Step("Where?"),
        ),
        ("selfask", "So the final answer is: Oll", None),
        ("self-critique", "Where?\nIntermediate answer: there", Step("Where?")),
        ("self-critique", "Next step: Where?", Step("Where?")),
        ("self-critique", "", None),
    ],
)
def test_what_is_read_of_a_chat_models_plan(
    scripted, asked: str, reply: str, expected: Step | None
) -> None:
    assert ChatAgent(scripted(reply), CORPUS).plan([begun()], asked) == [expected]


@pytest.mark.parametrize(
    ("reply", "enough"), [("Yes.", True), ("No, and yes", False), ("I cannot say", False)]
)
def test_what_cannot_be_read_does_not_suffice(scripted, reply: str, enough: bool) -> None:
    assert ChatAgent(scripted(reply), CORPUS).suffices([begun()]) == [enough]


def test_a_chat_model_answers_by_what_was_found_last_and_judges_by_all_answers(scripted) -> None:
    model, of = scripted(" Selby Quay. ", "Yes"), begun()
    agent = ChatAgent(model, CORPUS)
    agent.answer([of], 5)
    assert of.steps[1].answers == ("Selby Quay.",) and agent.suffices([of]) == [True]
    answering, judging = model.prompts
    assert (
        f"1: {CORPUS['moravec'].full_text}".splitlines()[0] in answering
        and "silent film" not in answering
    )
    assert answering.endswith("Question: Where was she born?")
    assert judging.endswith(f"Question: {TOWN.text}\n\nStatements:\nInes Moravec\nSelby Quay.")


def test_a_chat_model_thinks_by_all_that_was_found_and_drafts_by_the_last_retrieval(
    scripted,
) -> None:
    model = scripted(
        "She was born there. And so on.", "So the answer is: Selby Quay.", " Selby Quay. "
    )
    agent, of = ChatAgent(model, CORPUS), begun()
    assert agent.think([of], 1) == [Step("She was born there.")]
    of.steps.append(Step("She was born there.", rows=(HARBOUR, MORAVEC)))
    assert agent.think([of], 1) == [None]  # "answer is" ends it
    assert agent.draft([of], 1) == ["Selby Quay."]
    first, second, drafting = model.prompts
    told = [
        f"{n}: {CORPUS[id].full_text}".splitlines()[0] for n, id in ((1, "harbour"), (2, "moravec"))
    ]
    assert all(text in thought for text in told for thought in (first, second))
    assert (
        "fishing town" not in first and "3: " not in second
    )  # of each retrieval the first, each passage once
    assert first.endswith("Answer: Where was she born?") and second.endswith(
        "born? She was born there."
    )
    assert (
        told[0] in drafting
        and "2: " not in drafting
        and drafting.endswith(f"Question: {TOWN.text}\nAnswer:")
    )
