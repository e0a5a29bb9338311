"""Plans by hand: what is asked of a graph, what planners are told, and what is read of their replies."""

from collections.abc import Mapping

import pytest

from kit.corpus import Query, example
from kit.retrievers.agents import NO_RETRIEVAL, ChatPlanner, Hole, SmallPlanner, Step, begun_plan, read_plan, read_reply
from kit.store import Store
from kit.text.language_models import BEGUN, Answer, LanguageModel
from kit.text.placeholders import EntityLinker, Placeholders

ASKED = "Which river floods the birthplace of Ines Moravec?"
BORN, FLOODED = ("Ines Moravec", "born in", "Selby Quay"), ("Selby Quay", "flooded by", "Oll")
LINKER = EntityLinker(example().corpus)


class Scripted(LanguageModel):
    """Replies that are written down beforehand."""

    def __init__(self, replies: list[str], store: Store) -> None:
        super().__init__("scripted", store=store)
        self.identity, self.replies, self.prompts = "scripted", replies, []

    def _ask(self, prompts):
        for place, prompt in enumerate(prompts):
            self.prompts.append(prompt)
            yield {place: Answer(self.replies[len(self.prompts) - 1], 0, 0, 0.0)}


def test_a_hole_is_filled_from_either_end() -> None:
    assert Hole("ines moravec", "born in").answers([BORN, FLOODED]) == ["Selby Quay"]
    assert Hole("Oll", "flooded by", backward=True).answers([BORN, FLOODED]) == ["Selby Quay"]
    assert Hole("Oll", "flooded by").answers([BORN, FLOODED]) == []
    assert (
        Hole("Oll", "flooded by").text == "Oll flooded by" and Hole("Oll", "flooded by", True).text == "flooded by Oll"
    )


def test_several_holes_are_filled_by_what_fits_all() -> None:
    triples = [("A", "x", "P"), ("B", "x", "P"), ("b", "y", "Q"), ("C", "y", "Q")]
    both = Step("", (Hole("P", "x", True), Hole("Q", "y", True)))
    assert both.read(triples) == ("B",) and both.read(triples[:2]) == () == Step("a sentence").read(triples)


def test_the_small_planner_reads_numbers_and_goes_on_from_its_steps(tmp_path) -> None:
    model = Scripted(["subq <n1> > flooded by = <n2> ; sufficient", "sufficient"], Store(tmp_path))
    planner = SmallPlanner(model, example().corpus)
    first = Step("Ines Moravec born in", (Hole("Ines Moravec", "born in"),), answers=("Selby Quay",))
    whole = Step(ASKED)  # the question itself is no step of the small planner's
    [step] = planner.plan([(Query("q", ASKED), [whole, first])])
    assert model.prompts == [
        f"plan : which river floods the birthplace of <n0> ? {BEGUN} subq <n0> > born in = <n1> ;",
    ]
    assert step == Step("Selby Quay flooded by", (Hole("Selby Quay", "flooded by"),))
    assert planner.plan([(Query("q", ASKED), [whole])]) == [None]
    failed = Step("", (Hole("Oll", "source", True), Hole("Selby Quay", "on")))
    assert begun_plan([failed], Placeholders()) == "subq <n0> < source & <n1> > on = nothing ;"


@pytest.mark.parametrize(
    "reply", ["sufficient", "", "subq <n5> > born in = <n1> ;", "subq <n0> born in", "subq oll > x"]
)
def test_what_is_no_sub_question_about_known_names_ends_the_plan(reply: str) -> None:
    names = Placeholders()
    names.of("Oll")
    assert read_plan(reply, names) is None


def test_a_chat_model_is_told_the_triples_of_each_step(tmp_path) -> None:
    model = Scripted(["[SUBQ] Which river floods Selby Quay?\nBecause", "[NO_RETRIEVAL]"], Store(tmp_path))
    steps = [Step(ASKED, triples=(BORN,))]
    found = ChatPlanner(model).plan([(Query("q", ASKED), steps), (Query("q", "Who?"), [])])
    assert found == [Step("Which river floods Selby Quay?"), Step(NO_RETRIEVAL)]
    told = (
        '[SUBQ] Which river floods the birthplace of Ines Moravec?\n\nRetrieved Graph Information: ["(S> Ines Moravec| '
    )
    assert f'{told}P> born in| O> Selby Quay)"]\n\nQuestion: {ASKED}' in model.prompts[0]
    assert model.prompts[1].endswith("with the provided information.\n\nQuestion: Who?")


def test_insufficient_is_no_sufficient_sub_question() -> None:
    replies: Mapping[str, Step | None] = {"[SUFFICIENT]": None, "It is insufficient.": None, "[SUBQ] ": None}
    assert {reply: read_reply(reply) for reply in replies} == replies
