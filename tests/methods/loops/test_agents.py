"""Agents by hand: what a graph answers, how they are asked, and what is read of their replies."""

from collections import Counter

import pytest

from kit import cost
from kit.corpus import Query, example
from kit.methods.loops import fact_reader
from kit.methods.loops.agents import ChatAgent, GoldAgent, SmallAgent
from kit.methods.loops.fact_reader import FactReader
from kit.methods.loops.small_plan import begun_plan, read_plan
from kit.methods.loops.steps import SUBQ, SUFFICIENT, UNREADABLE, Hole, Step, Trajectory, gold_steps
from kit.text.language_models import BEGUN, as_request
from kit.text.placeholders import Placeholders
from kit.text.triples import extract

CORPUS, (TOWN, RIVER) = example().corpus, example().test

QUESTION = "Which river floods the birthplace of Ines Moravec?"
BORN, FLOODED = ("Ines Moravec", "born in", "Selby Quay"), ("Selby Quay", "flooded by", "Oll")
HARBOUR, MORAVEC, QUAY = (CORPUS.row[name] for name in ("harbour", "moravec", "quay"))
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
    step = Step("", (Hole("P", "x", True), Hole("Q", "y", True)))
    assert step.read(triples) == ("B",)
    assert step.read(triples[:2]) == ()
    assert Step("a sentence").read(triples) == ()


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
    trajectory = Trajectory(TOWN.query, steps, {BORN: 3, FLOODED: 5}, SUFFICIENT)
    # Row 3 answered b; then the first of each retrieval, the second, the third, without repeats.
    assert trajectory.rows == [3, 4, 5, 2] and trajectory.n_retrievals == 2
    assert trajectory.up_to(2) == Trajectory(TOWN.query, steps[:2], {BORN: 3}, SUBQ)
    assert trajectory.up_to(3) == trajectory and trajectory.up_to(0).rows == []


@pytest.fixture
def read_rows(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The lists of rows whose triples are extracted, as they come."""
    lists = []

    def recorded(corpus, source, rows, **settings):
        lists.append(rows)
        return extract(corpus, source, rows, **settings)

    monkeypatch.setattr(fact_reader, "extract", recorded)
    return lists


def test_each_passage_is_read_once(read_rows) -> None:
    reader = FactReader(CORPUS, "rules")
    graphs = reader.graphs([[MORAVEC, HARBOUR], [HARBOUR]])
    assert graphs == [{PLACE: MORAVEC, FILM: HARBOUR}, {FILM: HARBOUR}]
    assert reader.graphs([[HARBOUR]]) == [{FILM: HARBOUR}]
    assert reader.graphs([[]]) == [{}] and reader.graphs([]) == []
    assert read_rows == [sorted([MORAVEC, HARBOUR])]


def test_the_graph_grows_by_what_the_first_passages_say(read_rows) -> None:
    reader = FactReader(CORPUS, "rules")
    step = Step("", (Hole("Ines Moravec", SHE),), (MORAVEC, QUAY))
    trajectory = Trajectory(TOWN.query, [step], {FILM: HARBOUR})
    reader.read([trajectory], 1)
    assert (step.triples, step.answers) == ((PLACE,), ("Selby Quay",))
    assert trajectory.graph == {FILM: HARBOUR, PLACE: MORAVEC}
    assert read_rows == [[MORAVEC]]  # the second passage is not read
    reader.read([trajectory], 1)
    assert step.triples == ()  # nothing new

    questions = ((TOWN, QUAY), (RIVER, 4))
    reader.read(
        [Trajectory(question.query, [Step("", rows=(row,))]) for question, row in questions], 1
    )
    assert read_rows[1:] == [[QUAY, 4]]  # those of all questions at once


def test_gold_knows_the_sub_questions_and_their_answers() -> None:
    agent = GoldAgent()
    whole = Step(TOWN.text)
    sentences = [
        "Who directed the film The Glass Harbour? Ines Moravec",
        "In which town was Ines Moravec born? Selby Quay",
    ]
    begun = [[], [whole], [whole, Step("a")], [whole, Step("a"), Step("b")]]
    trajectories = [Trajectory(TOWN.gold_query, steps) for steps in begun]
    first, second = gold_steps(TOWN.gold_query)
    assert agent.plan(trajectories) == [first, first, second, None]
    thoughts = [Step(text, answers=step.answers) for text, step in zip(sentences, (first, second))]
    assert agent.think(trajectories, 1) == [thoughts[0], *thoughts, None]
    assert agent.draft(trajectories, 1) == [
        "",
        sentences[0],
        " ".join(sentences),
        " ".join(sentences),
    ]
    assert agent.suffices(trajectories) == [False] * 4 and agent.model is None


def test_the_small_agent_thinks_with_what_its_graph_answers(scripted) -> None:
    agent = SmallAgent(scripted(*SMALL_PLAN), CORPUS, "rules")
    trajectory = Trajectory(TOWN.query, [Step(TOWN.text)], {FILM: HARBOUR})
    for text, answers in (
        (f"Glass Harbour {BY} Ines Moravec", ("Ines Moravec",)),
        (f"Ines Moravec {SHE}", ()),
    ):
        [thought] = agent.think([trajectory], 1)
        assert (thought.text, thought.answers) == (text, answers)
        trajectory.steps.append(thought)
    assert agent.think([trajectory], 1) == [None]


@pytest.mark.parametrize(
    ("top_k", "ended", "drafted"),
    [
        (2, SUFFICIENT, f"Ines Moravec {SHE} Selby Quay"),
        (1, "not found", f"Ines Moravec {SHE}"),
    ],
)
def test_the_small_agent_drafts_by_the_passages_of_the_last_step(
    scripted, top_k, ended, drafted
) -> None:
    agent = SmallAgent(scripted(*SMALL_PLAN), CORPUS, "rules")
    trajectory = Trajectory(
        TOWN.query, [Step("x", rows=(MORAVEC,)), Step("y", rows=(HARBOUR, MORAVEC))]
    )
    assert agent.draft([trajectory], top_k) == [f"Glass Harbour {BY} Ines Moravec; {drafted}"]
    [reasoned] = agent.reason([TOWN.query], [trajectory.steps[1].rows[:top_k]])
    assert (
        reasoned.ended == ended
        and len(trajectory.steps) == 2
        and trajectory.graph == reasoned.graph
    )


def test_the_small_planner_reads_numbers_and_goes_on_from_its_steps(scripted) -> None:
    model = scripted("subq <n1> > flooded by = <n2> ; sufficient", "sufficient")
    planner = SmallAgent(model, CORPUS, "rules")
    first = Step(
        "Ines Moravec born in", (Hole("Ines Moravec", "born in"),), answers=("Selby Quay",)
    )
    whole = Step(QUESTION)  # the question itself is no step of the small planner's
    [step] = planner.plan([Trajectory(Query("q", QUESTION), [whole, first])])
    assert model.prompts == [
        f"plan : which river floods the birthplace of <n0> ? {BEGUN} subq <n0> > born in = <n1> ;",
    ]
    assert step == Step("Selby Quay flooded by", (Hole("Selby Quay", "flooded by"),))
    assert planner.plan([Trajectory(Query("q", QUESTION), [whole])]) == [None]
    failed = Step("", (Hole("Oll", "source", True), Hole("Selby Quay", "on")))
    assert begun_plan([failed], Placeholders()) == "subq <n0> < source & <n1> > on = nothing ;"


@pytest.mark.parametrize(
    "reply", ["sufficient", "", "subq <n5> > born in = <n1> ;", "subq <n0> born in", "subq oll > x"]
)
def test_what_is_no_sub_question_about_known_names_ends_the_plan(reply: str) -> None:
    names = Placeholders()
    names.placeholder("Oll")
    assert read_plan(reply, names) is None


def test_a_chat_model_is_told_the_triples_of_each_step(scripted) -> None:
    model = scripted("[SUBQ] Which river floods Selby Quay?\nBecause", "[NO_RETRIEVAL]")
    begun = Trajectory(Query("q", QUESTION), [Step(QUESTION, triples=(BORN,))])
    planned = ChatAgent(model, CORPUS).plan([begun, Trajectory(Query("q", "Who?"))])
    assert planned == [Step("Which river floods Selby Quay?"), Step("[NO_RETRIEVAL]")]
    triples = '["(S> Ines Moravec| P> born in| O> Selby Quay)"]'
    first, second = model.prompts
    assert first.prompt == (
        f"[PREV_SUBQ] {QUESTION}\n[PREV_GRAPH_INFO] {triples}\nQuestion: {QUESTION}"
    )
    assert second.prompt == "Question: Who?" and first.system == second.system


def begun() -> Trajectory:
    """Two retrievals, of which the first is answered."""
    first = Step("Who directed it?", rows=(HARBOUR, QUAY), answers=("Ines Moravec",))
    return Trajectory(TOWN.query, [first, Step("Where was she born?", rows=(MORAVEC,))])


@pytest.mark.parametrize(
    ("policy", "reply", "expected"),
    [
        ("ras", "[SUBQ] Where?\n[SUBQ] Who?", Step("Where?")),
        *(
            ("ras", reply, None)
            for reply in ("[SUFFICIENT]\n[SUBQ] Who?", "It is insufficient.", "[SUBQ] ", "")
        ),
        *(
            ("ras", reply, Step("Where?"))
            for reply in (
                "**[SUBQ]** Where?",
                "Output: [SUBQ] Where?",
                "```\n[SUBQ] Where?\n```",
                '"[SUBQ] Where?"',
                "<think>[SUFFICIENT]?</think>\n[SUBQ] Where?",
                "so [SUFFICIENT] does not hold.</think>[SUBQ] Where?",
                "[SUBQ]\n**Where?**",
                "One of [NO_RETRIEVAL], [SUBQ] and [SUFFICIENT] fits.\n\n[SUBQ]: Where?",
            )
        ),
        ("ras", "**[NO_RETRIEVAL]** It is known.", Step("[NO_RETRIEVAL]")),
        ("ras", "The graph is not [SUFFICIENT].", None),
        (
            "selfask",
            "Are follow up questions needed here: Yes.\nFollow up: Where?\nMore",
            Step("Where?"),
        ),
        ("selfask", "So the final answer is: Oll", None),
        ("selfask", "**Follow up:** Where?", Step("Where?")),
        ("selfask", "Are follow up questions needed here: Yes. Follow-up: Where?", Step("Where?")),
        # A model that is not stopped tells what was before, and answers itself.
        (
            "selfask",
            "Follow up: Who directed it?\nIntermediate answer: Ines Moravec\nFollow up: Where?\n"
            "Intermediate answer: Orm\nFollow up: Why?\nSo the final answer is: Orm",
            Step("Where?"),
        ),
        ("selfask", "Follow up: Where? Intermediate answer: Orm", Step("Where?")),
        ("selfask", "Follow up: Who directed it?", Step("Who directed it?")),
        ("selfask", "Are follow up questions needed here: No.", None),
        (
            "self-critique",
            "Next step: Who directed it?\nIntermediate answer: x\n**Next step:** Where?",
            Step("Where?"),
        ),
        ("self-critique", "```\nOutput: Where?\n```", Step("Where?")),
        ("self-critique", "Where?\nIntermediate answer: there", Step("Where?")),
        ("self-critique", "Next step: Where?", Step("Where?")),
        ("self-critique", "", None),
    ],
)
def test_what_is_read_of_a_chat_models_plan(
    scripted, policy: str, reply: str, expected: Step | None
) -> None:
    assert ChatAgent(scripted(reply), CORPUS).plan([begun()], policy) == [expected]


@pytest.mark.parametrize(
    ("reply", "enough"),
    [
        ("Yes.", True),
        ("**Yes**", True),
        ("Answer: yes", True),
        ("<think>No?</think>Yes", True),
        ("No, and yes", False),
        ("I cannot say", False),
    ],
)
def test_what_cannot_be_read_does_not_suffice(scripted, reply: str, enough: bool) -> None:
    assert ChatAgent(scripted(reply), CORPUS).suffices([begun()]) == [enough]


def test_a_chat_model_answers_by_what_was_found_last_and_judges_by_all_answers(scripted) -> None:
    model, trajectory = scripted(" Selby Quay. ", "Yes"), begun()
    agent = ChatAgent(model, CORPUS)
    agent.answer([trajectory], 5)
    assert trajectory.steps[1].answers == ("Selby Quay.",) and agent.suffices([trajectory]) == [
        True
    ]
    answering, judging = (as_request(prompt).prompt for prompt in model.prompts)
    assert model.prompts[1].choices == ("Yes", "No")
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
    agent, trajectory = ChatAgent(model, CORPUS), begun()
    assert agent.think([trajectory], 1) == [Step("She was born there.")]
    trajectory.steps.append(Step("She was born there.", rows=(HARBOUR, MORAVEC)))
    assert agent.think([trajectory], 1) == [None]  # "answer is" ends it
    assert agent.draft([trajectory], 1) == ["Selby Quay."]
    first, second, drafting = (as_request(prompt).prompt for prompt in model.prompts)
    stops = [as_request(prompt).stop for prompt in model.prompts]
    assert stops == ["\n", "\n", ""]  # a thought is a line, a draft may have several
    read = [
        f"{n}: {CORPUS[name].full_text}".splitlines()[0]
        for n, name in ((1, "harbour"), (2, "moravec"))
    ]
    assert all(text in thought for text in read for thought in (first, second))
    # Of each retrieval the first, each passage once.
    assert "fishing town" not in first and "3: " not in second
    assert first.endswith("Answer: Where was she born?") and second.endswith(
        "born? She was born there."
    )
    assert (
        read[0] in drafting
        and "2: " not in drafting
        and drafting.endswith(f"Question: {TOWN.text}\nAnswer:")
    )


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What language models are said to cost from now on."""
    counts = Counter()
    monkeypatch.setattr(cost, "COUNTS", counts)
    return counts


@pytest.mark.parametrize("policy", ["ras", "selfask", "self-critique"])
@pytest.mark.parametrize("reply", ["", "<think>Hm", "``````"])
def test_a_plan_that_says_nothing_is_counted_and_is_no_decision(
    scripted, spent, policy: str, reply: str
) -> None:
    trajectory = begun()
    assert ChatAgent(scripted(reply), CORPUS).plan([trajectory], policy) == [None]
    assert trajectory.ended == UNREADABLE and spent["unread"] == 1


@pytest.mark.parametrize(
    ("policy", "reply"),
    [("ras", "[SUBQ]"), ("selfask", "Follow up:"), ("self-critique", "Next step:")],
)
def test_a_label_with_nothing_behind_it_is_no_decision(
    scripted, spent, policy: str, reply: str
) -> None:
    trajectory = begun()
    assert ChatAgent(scripted(reply), CORPUS).plan([trajectory], policy) == [None]
    assert trajectory.ended == UNREADABLE and spent["unread"] == 1


@pytest.mark.parametrize(
    ("policy", "reply"), [("ras", "[SUFFICIENT]"), ("selfask", "So the final answer is: Oll")]
)
def test_a_decision_is_not_counted(scripted, spent, policy: str, reply: str) -> None:
    trajectory = begun()
    assert ChatAgent(scripted(reply), CORPUS).plan([trajectory], policy) == [None]
    assert trajectory.ended == "" and spent["unread"] == 0


def test_in_every_role_a_reply_that_says_nothing_is_counted(scripted, spent) -> None:
    agent = ChatAgent(scripted("<think>", "I cannot say", "", " ", "``````"), CORPUS)
    agent.answer([begun()], 1)
    agent.suffices([begun()])
    agent.think([begun()], 1)
    agent.draft([begun()], 1)
    agent.conclude([begun()])
    assert spent["unread"] == 5


def test_the_loops_own_answers_are_kept(scripted) -> None:
    drafted = "She was born in Selby Quay, so the answer is: Oll"
    replies = ["So the final answer is: **Orm**", "So the answer is: Selby Quay.", drafted]
    agent = ChatAgent(scripted(*replies, "Nobody knows."), CORPUS)
    trajectory = begun()
    agent.plan([trajectory], "selfask")
    assert trajectory.answer == "Orm"
    agent.think([trajectory], 1)
    assert trajectory.answer == "Selby Quay."
    assert agent.draft([trajectory], 1) == [drafted] and trajectory.answer == "Oll"
    agent.conclude([trajectory])
    assert trajectory.answer == "Nobody knows."
    assert [exchange.round for exchange in trajectory.exchanges] == [2, 2, 2, 1]
