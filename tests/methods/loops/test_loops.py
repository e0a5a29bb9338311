"""Loops on the example, with an agent that says what it is to: each decision and stop by hand."""

from collections.abc import Callable, Mapping
from itertools import chain

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, example
from kit.errors import InputError
from kit.graphs import build
from kit.methods import make
from kit.methods.loops.agents import SmallAgent
from kit.methods.loops.loops import Loop, SelfAsk, SelfCritique
from kit.methods.loops.steps import SUBQ, SUFFICIENT, Step, Trajectory
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent
from kit.views.frames import replay

HAND = example()
TOWN, RIVER = HAND.test
ONE = "A painter who turned to pictures"  # found in moravec
TWO = "A river that rises in chalk hills"  # found in oll
BY, SHE = "is a silent film directed by", "She was born in"


@pytest.fixture
def loop(indexed, agent) -> Callable[..., Loop]:
    """Makes a loop by its name, what its agent says, and its settings."""

    def make_loop(
        name: str, *texts: str | None, enough: Mapping[str, int] = {}, **settings: object
    ) -> Loop:
        retriever = indexed(name, model="gold", **settings)
        retriever.agent = agent(*texts, **enough)
        return retriever

    return make_loop


def texts(trajectory: Trajectory) -> list[str]:
    return [step.text for step in trajectory.steps]


@pytest.mark.parametrize(
    ("name", "script", "searched", "requests"),
    [
        ("selfask", [ONE, TWO, None], [ONE, TWO], ["plan 0", "plan 1", "plan 2"]),
        # After the answer that suffices no next step is asked for.
        ("self-critique", [ONE, TWO], [ONE, TWO], ["plan 0", "suffices 1", "plan 1", "suffices 2"]),
        ("ircot", ["", ONE, TWO, None], [TOWN.text, ONE, TWO], ["think 1", "think 2", "think 3"]),
        (
            "iter-retgen",
            ["", ONE, TWO, TWO],
            [TOWN.text, f"{TOWN.text} {ONE}", f"{TOWN.text} {TWO}"],
            ["draft 1", "draft 2", "draft 3"],
        ),
    ],
)
def test_each_policy_searches_its_own_way(name, script, searched, requests, loop, indexed) -> None:
    retriever = loop(name, *script, enough={"town": 2}, top_k=1)
    [trajectory] = retriever.run([TOWN.query])
    assert (
        texts(trajectory) == searched
        and trajectory.ended == SUFFICIENT
        and trajectory.n_retrievals == len(searched)
    )
    assert retriever.agent.log == requests
    retrieved = [indexed("dense").retrieve(text, 1).ids for text in searched]
    assert [retriever.ids(step.rows) for step in trajectory.steps] == retrieved
    answers = ["answer 1", "answer 2"] if name in ("selfask", "self-critique") else []
    assert [answer for step in trajectory.steps for answer in step.answers] == answers


@pytest.mark.parametrize(
    ("script", "settings", "n_steps", "ended"),
    [
        ([None], {}, 0, SUFFICIENT),
        ([ONE, TWO, ONE], {}, 2, SUFFICIENT),  # a text that comes again
        ([ONE, TWO, "x"], {"rounds": 2}, 2, "no retrieval is left"),
        (list(map(str, range(13))), {"rounds": 20}, 12, "no step is left"),
    ],
)
@pytest.mark.parametrize("name", ["selfask", "self-critique"])
def test_what_ends_it(name, script, settings, n_steps, ended, loop) -> None:
    [trajectory] = loop(name, *script, **settings).run([TOWN.query])
    assert (len(trajectory.steps), trajectory.ended) == (n_steps, ended)


def test_questions_side_by_side_are_answered_as_alone(loop) -> None:
    retriever = loop("self-critique", ONE, TWO, "x", enough={"town": 1, "river": 2})
    together = retriever.run([TOWN.query, RIVER.query])
    assert [texts(trajectory) for trajectory in together] == [[ONE], [ONE, TWO]] and retriever.run(
        []
    ) == []
    assert together == [retriever.run([question.query])[0] for question in (TOWN, RIVER)]


def test_a_ranking_takes_turns_and_is_filled_up_by_the_question(loop, indexed) -> None:
    dense = indexed("dense")
    firsts = [dense.retrieve(text, 6).ids for text in (ONE, TWO)]
    whole = dense.retrieve(TOWN.text, 6)
    ranking = loop("selfask", ONE, TWO, None).retrieve(TOWN.query, 4)
    assert ranking.ids == tuple(dict.fromkeys(chain(*zip(*firsts))))[:4]
    assert ranking.ids[:2] == ("moravec", "oll")
    ranking = loop("selfask", None).retrieve(TOWN.query, 9)
    assert ranking.ids == whole.ids and np.allclose(ranking.scores, 1 / np.arange(1, 7))


# ---- the inner retriever


def test_an_inner_with_a_memory_sees_all_texts_so_far(loop) -> None:
    retriever = loop("selfask", ONE, TWO, None, inner="rgnn-ret")
    first, alone, together = (
        dict(zip(ranking.ids, ranking.scores))
        for ranking in retriever.inner.retrieve_next([[ONE], [TWO], [ONE, TWO]], 6)
    )
    mixed = {passage: 0.9 * alone[passage] + 0.1 * first[passage] for passage in alone}
    assert together == pytest.approx(mixed, rel=1e-5)  # in single precision
    assert together != alone
    [trajectory] = retriever.run([TOWN.query])
    assert (
        retriever.ids(trajectory.steps[1].rows)
        == retriever.inner.retrieve_next([[ONE, TWO]], 5)[0].ids
    )
    plain = loop("selfask", inner="gnn-ret").inner
    assert plain.retrieve_next([[ONE, TWO]], 6)[0].ids == plain.retrieve(TWO, 6).ids


def test_an_inner_that_has_learned_is_kept_and_a_variant_has_its_own() -> None:
    inner = make("rgnn-ret", n_train=2, n_candidates=3, top_k=2)
    inner.fit(Benchmark("hand", HAND.corpus, train=HAND.test))
    retriever = make("selfask", inner="rgnn-ret", model="gold")
    retriever.inner = inner
    retriever.index(HAND.corpus)
    assert retriever.inner.learned is inner.learned and retriever.inner.settings == inner.settings
    few = Corpus(HAND.corpus.passages[:3])
    other = retriever.variant(corpus=few)
    assert (
        other.inner.learned is inner.learned and retriever.variant(top_k=1).inner is retriever.inner
    )
    assert (
        other.inner.corpus is other.corpus is few
        and retriever.inner.corpus is retriever.corpus is HAND.corpus
    )
    assert retriever.variant(inner="dense").inner.name == "dense"


def test_a_loop_over_a_retriever_that_is_indexed_already(indexed, agent) -> None:
    dense = indexed("dense")
    critique = SelfCritique.over(dense, agent(ONE, TWO, town=1))
    assert critique.inner is dense and critique.usage() is None
    [trajectory] = critique.run([TOWN.query])
    assert texts(trajectory) == [ONE]
    assert dense.ids(trajectory.last.rows) == dense.retrieve(ONE, 5).ids


def test_an_inner_that_nobody_knows_is_refused_in_one_line() -> None:
    with pytest.raises(
        InputError, match=r"^no retriever 'nope'; known are bm25, .*golden, fuse, rerank$"
    ):
        make("ircot", inner="nope")


# ---- what a trace tells


def test_the_trace_tells_what_the_small_agent_reads(loop, scripted) -> None:
    retriever = loop("selfask", top_k=1)
    model = scripted(f"subq <n0> > {BY} = <n1>", f"subq <n1> > {SHE} = <n2>", "sufficient")
    retriever.agent = SmallAgent(model, HAND.corpus, "rules")
    ranking = retriever.explain(TOWN.query, 2)
    assert ranking.trace.events == (
        SubQuestionEvent(0, f"Glass Harbour {BY}", "Ines Moravec"),
        Seed(0, "harbour", 1.0),
        GraphGrowth(
            0, (("The Glass Harbour (film)", BY, "Ines Moravec"),), ("Ines Moravec",), SUBQ
        ),
        SubQuestionEvent(1, f"Ines Moravec {SHE}", "Selby Quay"),
        Seed(1, "moravec", 1.0),
        GraphGrowth(1, (("Ines Moravec", SHE, "Selby Quay"),), ("Selby Quay",), SUFFICIENT),
    )
    # What answered stands first. The model is asked nothing twice.
    assert ranking.ids == ("harbour", "moravec") == retriever.retrieve(TOWN.query, 2).ids
    assert retriever.usage().set_index("source")["calls"].to_dict() == {"live": 3, "replayed": 3}
    frames = replay(ranking, HAND.corpus, TOWN).frames
    assert [frame.sub_question for frame in frames] == [
        f"Glass Harbour {BY}",
        f"Ines Moravec {SHE}",
    ]


@pytest.mark.parametrize(
    ("name", "rounds"),
    [("selfask", 2), ("self-critique", 2), ("ircot", 3), ("iter-retgen", 3), ("ras", 3)],
)
def test_a_trace_of_gold_sub_questions_is_replayed_round_by_round(name, rounds, indexed) -> None:
    settings = {"planner": "gold", "triples": "rules"} if name == "ras" else {"model": "gold"}
    retriever = indexed(name, **settings)
    assert retriever.sees_gold and retriever.usage() is None
    ranking = retriever.explain(TOWN.gold_query, 4)
    assert ranking.ids == retriever.retrieve(TOWN.gold_query, 4).ids
    assert sum(isinstance(event, SubQuestionEvent) for event in ranking.trace.events) == rounds
    for graph in (None, build("entity+structure", HAND.corpus)):
        assert len(replay(ranking, HAND.corpus, TOWN, graph).frames) == rounds


# ---- a chat model behind a server


def replied(prompt: str) -> str:
    """What a chat model says: one sub-question or thought, then the end."""
    if prompt.startswith("Your goal is to answer the next step question"):
        return "Selby Quay."
    if prompt.startswith("Answer the question by reasoning"):
        return (
            "She was born in Selby Quay. So"
            if prompt.endswith("Answer:")
            else "So the answer is: Selby Quay."
        )
    has_asked = prompt.count("Intermediate answer:") > 2  # of the demonstrations
    return (
        "So the final answer is: Selby Quay"
        if has_asked
        else "Follow up: Where was Ines Moravec born?"
    )


@pytest.mark.parametrize(
    ("name", "n_calls", "searched"),
    [
        ("selfask", 3, ["Where was Ines Moravec born?"]),
        ("ircot", 2, [TOWN.text, "She was born in Selby Quay."]),
    ],
)
def test_a_chat_model_is_cut_off_and_is_replayed_to_the_same(
    name, n_calls, searched, chat, indexed
) -> None:
    chat.reply, chat.breaks_at = replied, n_calls
    with pytest.raises(InputError, match="APIConnectionError"):
        indexed(name, model=f"server:m@{chat.url}").run([TOWN.query])
    chat.breaks_at = 99
    retriever = indexed(name, model=f"server:m@{chat.url}")
    [trajectory] = retriever.run([TOWN.query])
    assert (
        chat.seen == n_calls + 1
        and texts(trajectory) == searched
        and trajectory.ended == SUFFICIENT
    )
    assert retriever.usage().set_index("source")["calls"].to_dict() == {
        "live": 1,
        "replayed": n_calls - 1,
    }
    assert indexed(name, model="replay:server:m").run([TOWN.query]) == [trajectory]


@pytest.mark.parametrize(("name", "answer"), [("selfask", "Selby Quay"), ("ircot", "Selby Quay.")])
def test_a_ranking_has_the_loops_answer_and_its_replay_what_was_asked(
    name: str, answer: str, chat, indexed
) -> None:
    chat.reply = replied
    ranking = indexed(name, model=f"server:m@{chat.url}").explain(TOWN.query, 3)
    assert ranking.answer == answer
    captions = [frame.caption for frame in replay(ranking, HAND.corpus, TOWN).frames]
    assert f"final answer is: {answer}”" in captions[-1] or f"answer is: {answer}”" in captions[-1]
    assert indexed("selfask", model="gold").retrieve(TOWN.gold_query, 3).answer == ""


def test_without_a_last_word_the_last_sub_answer_is_the_loops_own() -> None:
    steps = [Step("Who?", answers=("Orm",)), Step("Where?", answers=("Oll", "Selby Quay"))]
    loop = SelfAsk()
    ended = [
        Trajectory(TOWN.query, steps),
        Trajectory(TOWN.query, steps, answer="Marl"),
        Trajectory(TOWN.query, [*steps, Step("When?")]),
        Trajectory(TOWN.query),
    ]
    assert loop.answers(ended) == ["Oll, Selby Quay", "Marl", "", ""]
    assert SelfAsk(model="gold").answers(ended) == [""] * 4  # they are the data set's
