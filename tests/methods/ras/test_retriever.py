"""RAS on the example, with a planner that follows a script: each round and each stop by hand."""

import numpy as np
import pytest

from kit.corpus import Benchmark, Query, example
from kit.errors import InputError
from kit.methods import make
from kit.methods.loops.agents import Agent
from kit.methods.loops.small_plan import PLANNER
from kit.methods.loops.steps import NO_RETRIEVAL, SUFFICIENT, UNREADABLE, Hole, Step, Trajectory
from kit.methods.ras.retriever import RAS
from kit.methods.trace import Exchange, GraphGrowth, SubQuestionEvent
from kit.views.frames import replay

HAND = example()
TOWN, RIVER = HAND.test
BY, BORN = "is a silent film directed by", "She was born in"
FILM = ("The Glass Harbour (film)", BY, "Ines Moravec")
PLACE = ("Ines Moravec", BORN, "Selby Quay")


def hole(entity: str, relation: str, backward: bool = False) -> Step:
    return Step(f"{relation} {entity}", (Hole(entity, relation, backward),))


class Scripted(Agent):
    """The steps of a plan, one after another."""

    def __init__(self, *steps: Step | None) -> None:
        self.steps = [Step("any"), *steps]
        self.histories = []

    def plan(self, trajectories, policy="ras"):
        for trajectory in trajectories:
            self.histories.append([step.text for step in trajectory.steps])
        return [self.steps[len(trajectory.steps)] for trajectory in trajectories]


def ras(*steps: Step | None, **settings: object) -> RAS:
    retriever = make("ras", triples="rules", planner="gold", top_k=1, **settings)
    retriever.index(HAND.corpus)
    retriever.agent = Scripted(*steps)
    return retriever


def test_the_question_comes_first_then_each_step_until_it_suffices() -> None:
    retriever = ras(hole("The Glass Harbour", BY), hole("Ines Moravec", BORN), None)
    [grown] = retriever.run([TOWN.query])
    whole, directed, born = grown.steps
    assert (whole.text, whole.answers, grown.ended) == (TOWN.text, (), SUFFICIENT)
    assert retriever.ids(whole.rows) == ("harbour",) and whole.triples == (FILM,)
    # The graph has the answer already: nothing is searched for.
    assert (directed.rows, directed.triples, directed.answers) == ((), (), ("Ines Moravec",))
    assert retriever.ids(born.rows) == ("moravec",)
    assert (born.triples, born.answers) == ((PLACE,), ("Selby Quay",))
    assert grown.graph == {FILM: HAND.corpus.row["harbour"], PLACE: HAND.corpus.row["moravec"]}
    assert grown.n_retrievals == 2 and retriever.agent.histories[1] == [TOWN.text]
    # What answered stands first, then the first of each retrieval, then what dense retrieval has.
    assert retriever.ids(grown.rows) == ("harbour", "moravec")
    ranking = retriever.retrieve(TOWN.query, 6)
    assert ranking.ids[:2] == ("harbour", "moravec")
    assert sorted(ranking.ids) == sorted(HAND.corpus.row)
    assert np.allclose(ranking.scores, 1 / np.arange(1, 7))


def test_backward_it_looks_where_the_name_is_said_and_forward_in_its_own_passages() -> None:
    retriever = ras(hole("Ines Moravec", BY, True), None, by_name=True)
    [grown] = retriever.run([Query("q", "What rises in chalk hills and falls gently to the sea?")])
    assert retriever.ids(grown.steps[1].rows) == ("harbour",) and grown.steps[1].answers == (
        FILM[0],
    )
    retriever = ras(hole("Oll", "rises"), None, by_name=True)
    assert retriever.ids(retriever.run([TOWN.query])[0].steps[1].rows) == ("oll",)
    # A sentence: what names all that it names.
    swims = Step("Does anybody at Selby Quay swim in the Oll?")
    retriever = ras(swims, None, by_name=True)
    assert retriever.ids(retriever.run([TOWN.query])[0].steps[1].rows) == ("quay",)


def test_by_default_the_nearest_by_vector_come_first_as_in_eq_6() -> None:
    backward = hole("Ines Moravec", BY, True)
    retriever = ras(backward, None)
    [grown] = retriever.run([Query("q", "What rises in chalk hills and falls gently to the sea?")])
    query = retriever.encoder.encode([backward.text], role="query")[0]
    nearest = int(np.argmax(retriever.vectors @ query))
    assert grown.steps[1].rows == (nearest,)


@pytest.mark.parametrize(
    ("planner", "triples", "source"),
    [("gold", "", "rules"), (f"t5:{PLANNER}", "", f"t5:{PLANNER}"), ("gold", "rules", "rules")],
)
def test_only_the_small_planner_has_its_own_triples(planner, triples, source: str) -> None:
    """Another planner would get the invented relations of the small one as what was found."""
    retriever = make("ras", planner=planner, triples=triples)
    retriever.index(HAND.corpus)
    assert retriever.facts.source == source


def test_what_ends_it() -> None:
    missing = hole("Oll", "nothing of")
    other = hole("Selby Quay", "nothing of")
    [grown] = ras(missing, missing, None).run([TOWN.query])
    assert len(grown.steps) == 2 and grown.ended == SUFFICIENT  # a repeated sub-question (ras-i26)
    [grown] = ras(missing, other, None, rounds=2).run([TOWN.query])
    assert (grown.n_retrievals, grown.ended) == (2, "no retrieval is left")
    asked_again = [Step(str(n), (Hole("The Glass Harbour", BY),)) for n in range(12)]
    [grown] = ras(*asked_again).run([TOWN.query])  # the graph knows each time
    assert (len(grown.steps), grown.n_retrievals, grown.ended) == (12, 1, "no step is left")
    retriever = ras()
    retriever.agent.steps = [Step(NO_RETRIEVAL)]
    [grown] = retriever.run([TOWN.query])
    assert (grown.steps, grown.ended, grown.rows) == ([], NO_RETRIEVAL, [])
    assert retriever.run([]) == []


def test_questions_side_by_side_are_answered_as_alone() -> None:
    retriever = ras(hole("The Glass Harbour", BY), hole("Ines Moravec", BORN), None)
    together = retriever.retrieve_many([TOWN.query, RIVER.query], 3)
    alone = [retriever.retrieve(question.query, 3) for question in (TOWN, RIVER)]
    assert [ranking.ids for ranking in together] == [ranking.ids for ranking in alone]


def test_the_trace_tells_each_round() -> None:
    events = ras(hole("The Glass Harbour", BY), None).explain(TOWN.query, 3).trace.events
    asking = [event for event in events if isinstance(event, SubQuestionEvent)]
    assert [(event.text, event.answer) for event in asking] == [
        (TOWN.text, ""),
        (f"{BY} The Glass Harbour", "Ines Moravec"),
    ]
    first, second = (event for event in events if isinstance(event, GraphGrowth))
    assert (first.triples, first.decision) == ((FILM,), "[SUBQ]")
    assert (second.triples, second.answers, second.decision) == ((), ("Ines Moravec",), SUFFICIENT)


def test_gold_sub_questions_are_asked_one_by_one() -> None:
    retriever = make("ras", triples="rules", planner="gold", top_k=1)
    retriever.index(HAND.corpus)
    assert retriever.sees_gold and not make("ras").sees_gold
    [grown] = retriever.run([TOWN.gold_query])
    texts = ["Who directed the film The Glass Harbour?", "In which town was Ines Moravec born?"]
    assert [step.text for step in grown.steps] == [TOWN.text, *texts] and grown.ended == SUFFICIENT


def test_themes_narrow_the_search() -> None:
    retriever = ras(None, scope=0.2)
    retriever.fit(Benchmark("x", HAND.corpus, train=[TOWN]))
    assert retriever.theme_pairs == [
        ("Who directed the film The Glass Harbour?", HAND.corpus["harbour"].full_text),
        ("In which town was Ines Moravec born?", HAND.corpus["moravec"].full_text),
    ]
    within = np.zeros((1, len(HAND.corpus)), bool)
    within[0, HAND.corpus.row["oll"]] = True

    class Hand:
        def scoped(self, queries: np.ndarray, share: float) -> np.ndarray:
            assert (len(queries), share) == (1, 0.2)
            return within

    retriever.themes = Hand
    assert retriever.ids(retriever.run([TOWN.query])[0].steps[0].rows) == ("oll",)


@pytest.mark.parametrize("n", [0, 1])
def test_a_question_without_rounds_has_no_passages(n: int) -> None:
    assert Trajectory(TOWN.query, [Step("x")] * n).rows == []


# ---- a chat model behind a server


def planned(prompt: str) -> str:
    n_steps = prompt.count("[PREV_SUBQ]")
    replies = ["[SUBQ] Where?", "[SUBQ] In which town was Ines Moravec born?", "[SUFFICIENT]"]
    return replies[min(n_steps, 2)]


def chatting(planner: str) -> RAS:
    retriever = make("ras", planner=planner, triples="rules", top_k=1)
    retriever.index(HAND.corpus)
    return retriever


def test_a_chat_model_plans_is_cut_off_and_is_replayed_to_the_same(chat) -> None:
    chat.reply = planned
    chat.breaks_at = 2
    with pytest.raises(InputError, match="APIConnectionError"):
        chatting(f"server:m@{chat.url}").run([TOWN.query])
    chat.breaks_at = 99
    before = chat.seen
    retriever = chatting(f"server:m@{chat.url}")
    [grown] = retriever.run([TOWN.query])
    assert chat.seen == before + 2  # the first decision is not asked for again
    assert [step.text for step in grown.steps] == [
        TOWN.text,
        "In which town was Ines Moravec born?",
    ]
    assert retriever.ids(grown.rows) == ("harbour", "moravec") and grown.ended == SUFFICIENT
    log = retriever.agent.model.log
    assert [reply.text for _, reply in log] == [
        "[SUBQ] Where?",
        "[SUBQ] In which town was Ines Moravec born?",
        "[SUFFICIENT]",
    ]
    triple = "(S> The Glass Harbour (film)| P> is a silent film directed by| O> Ines Moravec)"
    assert triple in log[1][0].prompt
    assert retriever.usage().set_index("source")["calls"].to_dict() == {"live": 2, "replayed": 1}
    assert chatting("replay:server:m").run([TOWN.query]) == [grown]


def test_a_server_of_transformers_is_asked_the_same_way(server, own_store) -> None:
    """Its model writes nonsense, which is no plan: one retrieval, as none was declined (§4)."""
    [grown] = chatting(f"server:{server.model}@{server.url}").run([TOWN.query])
    assert [step.text for step in grown.steps] == [TOWN.text] and grown.ended == UNREADABLE


def test_the_answer_and_all_that_was_said_stand_in_the_result(chat) -> None:
    """The server writes as chat models do: emphasis, a heading, an answer with a label."""
    replies = ["**[SUBQ]** Where?", "Output: [SUBQ] In which town was Ines Moravec born?"]
    replies += ["```\n[SUFFICIENT]\n```", "Answer: **Selby Quay**"]

    def reply(prompt: str) -> str:
        n_steps = prompt.count("[PREV_SUBQ]")
        return replies[3 if "Retrieved Graph Information" in prompt else n_steps]

    chat.reply = reply
    ranking = chatting(f"server:m@{chat.url}").explain(TOWN.query, 4)
    assert ranking.answer == "Selby Quay"
    said = [event for event in ranking.trace.events if isinstance(event, Exchange)]
    assert [(event.round, event.reply) for event in said] == [
        (0, replies[0]),
        (1, replies[1]),
        (2, replies[2]),
        (1, replies[3]),
    ]
    assert said[0].prompt.startswith("You are a planner to determine")
    assert "[PREV_SUBQ] Where is the Pick Motor Company located?" in said[0].prompt  # an example
    assert said[3].prompt.endswith(f"Question: {TOWN.text}")
    first, second = replay(ranking, HAND.corpus, TOWN).frames
    assert first.caption.endswith(f"{TOWN.text}” Replied: “**[SUBQ]** Where?”")
    assert second.caption.count("Asked: “") == 3 and "Answer: **Selby Quay**" in second.caption


@pytest.mark.parametrize(
    ("first", "texts", "ended"),
    [
        ("[NO_RETRIEVAL]", [], NO_RETRIEVAL),
        ("**[NO_RETRIEVAL]**", [], NO_RETRIEVAL),
        ("[SUFFICIENT]", [TOWN.text], SUFFICIENT),
        ("I would search.", [TOWN.text], SUFFICIENT),
    ],
)
def test_only_no_retrieval_declines_the_first_search(chat, first, texts, ended) -> None:
    """§4: "if the initial planner output is not [NO_RETRIEVAL]", the question is searched for."""
    chat.reply = lambda prompt: "[SUFFICIENT]" if "[PREV_SUBQ]" in prompt else first
    [grown] = chatting(f"server:m@{chat.url}").run([TOWN.query])
    assert [step.text for step in grown.steps] == texts and grown.ended == ended


def test_what_was_asked_is_told_where_nothing_is_retrieved(chat) -> None:
    replies = iter([NO_RETRIEVAL, "Selby Quay"])
    chat.reply = lambda prompt: next(replies)
    ranking = chatting(f"server:m@{chat.url}").explain(TOWN.query, 4)
    said = [
        (event.round, event.reply) for event in ranking.trace.events if isinstance(event, Exchange)
    ]
    assert said == [(0, NO_RETRIEVAL), (0, "Selby Quay")] and ranking.answer == "Selby Quay"
    [frame] = replay(ranking, HAND.corpus, TOWN).frames
    assert "Replied: “[NO_RETRIEVAL]”" in frame.caption and "“Selby Quay”" in frame.caption


def test_a_foreign_t5_plans_by_the_plain_prompt(tiny_t5, own_store) -> None:
    retriever = chatting(f"t5:{tiny_t5}")
    [grown] = retriever.run([TOWN.query])
    first, second = (prompt for prompt, _ in retriever.agent.model.log)
    assert first.startswith("You are a planner to determine if the question can be answered")
    assert first.endswith(f"Question: {TOWN.text}") and "(S> " in second
    assert grown.ended == UNREADABLE
