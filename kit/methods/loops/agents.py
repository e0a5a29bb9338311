"""Who thinks in a loop of retrieval: gold sub-questions, the kit's small model, or a chat model.

The small one, ``data/planner``, reads numbers in the place of names. A sub-question of its is a triple with a hole,
``<n0> > employer`` (what is the employer of the first name?) or ``<n0> < employer`` (of whom is it the employer?), so
that its answers can be read off the triples of what was found. A chat model writes sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from kit.corpus import Corpus, GoldQuery, Query
from kit.corpus.sentences import split_sentences
from kit.text import prompts
from kit.text.language_models import BEGUN, LanguageModel, SequenceToSequence, language_model
from kit.text.placeholders import EntityLinker, Placeholders, key_of, linker_of
from kit.corpus import PlainTriple
from kit.text.triples import extract

SUBQ, SUFFICIENT = "[SUBQ]", "[SUFFICIENT]"
SMALL_SUBQ, SMALL_SUFFICIENT = "subq", "sufficient"  # the small planner's, a token each
LONGEST_PLAN = 128  # tokens of what a model writes at once
MOST_STEPS = 12  # of a question, those that need no retrieval included
PLANNER = "data/planner"  # where the committed small model lies in the project
GOLD = "gold"


class Hole(msgspec.Struct, frozen=True):
    """A triple of which one end is known: its object if ``backward``, else its subject."""

    entity: str
    relation: str
    backward: bool = False

    @property
    def text(self) -> str:
        """What is searched for."""
        return (
            f"{self.relation} {self.entity}" if self.backward else f"{self.entity} {self.relation}"
        )

    def answers(self, triples: Iterable[PlainTriple]) -> list[str]:
        """The other ends of the triples that fit, each once, as it is written first."""
        key, found = key_of(self.entity), {}
        for subject, relation, object in triples:
            known, other = (object, subject) if self.backward else (subject, object)
            if relation == self.relation and key_of(known) == key:
                found.setdefault(key_of(other), other)
        return list(found.values())


class Step(msgspec.Struct):
    """A sub-question q_i with its holes, where the model writes such, and what it led to.

    ``rows`` are the passages that were found, best first (none where the answer was known), ``triples`` g_i, what they
    add to the graph, ``answers`` what was read off.
    """

    text: str
    holes: tuple[Hole, ...] = ()
    rows: tuple[int, ...] = ()
    triples: tuple[PlainTriple, ...] = ()
    answers: tuple[str, ...] = ()

    def read(self, triples: Iterable[PlainTriple]) -> tuple[str, ...]:
        """What fills all holes, by the triples known."""
        found = [hole.answers(triples) for hole in self.holes]
        keys = [set(map(key_of, each)) for each in found]
        return (
            tuple(each for each in found[0] if all(key_of(each) in of for of in keys))
            if found
            else ()
        )

    @property
    def sentence(self) -> str:
        """Sub-question and answers as a statement, for a search."""
        before = any(hole.backward for hole in self.holes)
        return " ".join((*self.answers, self.text) if before else (self.text, *self.answers))


@dataclass
class Trajectory:
    """A question and how far it has come: its steps, its graph G_Q, each triple with the row that said it first, and
    what ended it: the model's last word, or that it had its retrievals.
    """

    query: Query
    steps: list[Step] = field(default_factory=list)
    graph: dict[PlainTriple, int] = field(default_factory=dict)
    ended: str = ""

    @property
    def n_retrievals(self) -> int:
        return sum(bool(step.rows) for step in self.steps)

    @property
    def rows(self) -> list[int]:
        """What was found: passages that answered a step first, then the first of each retrieval, the second …"""
        telling = [
            row
            for step in self.steps
            for triple, row in self.graph.items()
            if any(set(step.answers).intersection(hole.answers([triple])) for hole in step.holes)
        ]
        found = [step.rows for step in self.steps if step.rows]
        turns = (
            rows[place]
            for place in range(max(map(len, found), default=0))
            for rows in found
            if place < len(rows)
        )
        return list(dict.fromkeys([*telling, *turns]))

    def up_to(self, n: int) -> Trajectory:
        """As it was after n steps."""
        said = {triple for step in self.steps[:n] for triple in step.triples}
        graph = {triple: row for triple, row in self.graph.items() if triple in said}
        return replace(
            self,
            steps=self.steps[:n],
            graph=graph,
            ended=self.ended if n >= len(self.steps) else SUBQ,
        )


def gold_steps(query: Query) -> list[Step]:
    """The sub-questions of the data set with their answers, each ``#1`` filled with the gold answer of the first.

    Where there are none, the gold triples are asked (subject >> relation), as MuSiQue words such sub-questions, and
    without these the query's text line by line, so that one can type sub-questions.
    """
    question = query.question if isinstance(query, GoldQuery) else None
    if question and question.decomposition:
        answers = [step.answer for step in question.decomposition]
        return [
            Step(step.filled(answers), answers=(step.answer,)) for step in question.decomposition
        ]
    if question and question.triples:
        return [
            Step(f"{subject} >> {verb}", answers=(object,))
            for subject, verb, object in question.triples
        ]
    lines = [line for line in query.text.splitlines() if line.strip()]
    return [Step(line) for line in lines or [query.text]]


class FactReader:
    """Reads triples off passages by a source of :func:`kit.text.triples.extract`, each passage once."""

    def __init__(self, corpus: Corpus, source: str) -> None:
        self.corpus, self.source, self.known = corpus, source, {}

    def facts(self, lists: Sequence[Sequence[int]]) -> list[dict[PlainTriple, int]]:
        """The triples of each list of rows (ras.txt Eq. 7), each with the first that says it."""
        new = sorted({row for rows in lists for row in rows} - self.known.keys())
        for row, extraction in zip(new, extract(self.corpus, self.source, new) if new else ()):
            self.known[row] = tuple(
                (it.subject, it.relation, it.object) for it in extraction.triples
            )
        found: list[dict[PlainTriple, int]] = [{} for _ in lists]
        for rows, said in zip(lists, found):
            for row in rows:
                for triple in self.known[row]:
                    said.setdefault(triple, row)
        return found

    def read(self, going: Sequence[Trajectory], top_k: int) -> None:
        """What the first passages of the last step add to the graph (Eq. 9), and what answers the step then."""
        for of, said in zip(going, self.facts([of.steps[-1].rows[:top_k] for of in going])):
            step = of.steps[-1]
            step.triples = tuple(triple for triple in said if triple not in of.graph)
            of.graph |= {triple: said[triple] for triple in step.triples}
            step.answers = step.read(of.graph)


class Agent:
    """What the loops ask of a model, about many questions at once; it reads the first ``top_k`` of what was found."""

    model: LanguageModel | None = None

    def plan(self, going: Sequence[Trajectory], policy: str = "ras") -> list[Step | None]:
        """The next step, or None where what is known suffices (ras.txt §3.1, Eqs. 1 and 2).

        ``policy`` is the name of a loop; a chat model is asked in the words of each.
        """
        raise NotImplementedError

    def suffices(self, going: Sequence[Trajectory]) -> list[bool]:
        """RGNN-Ret's self-critique (gnn-ret.txt §3.3); here it is the plan that says so."""
        return [False] * len(going)

    def answer(self, going: Sequence[Trajectory], top_k: int) -> None:
        """Fill in what answers the last steps, by what they found."""

    def think(self, going: Sequence[Trajectory], top_k: int) -> list[Step | None]:
        """IRCoT's next sentence, by all that was found; None after the last. Here it is the plan's, answered."""
        self.answer(going, top_k)
        planned = self.plan(going)
        for of, step in zip(going, planned):
            if step:
                step.answers = step.answers or step.read(of.graph)
                step.text = step.sentence
        return planned

    def draft(self, going: Sequence[Trajectory], top_k: int) -> list[str]:
        """ITER-RETGEN's whole answer, by what was found last."""
        raise NotImplementedError


class GoldAgent(Agent):
    """The sub-questions of the data set, and their answers: more than any model knows."""

    def plan(self, going: Sequence[Trajectory], policy: str = "ras") -> list[Step | None]:
        done = [sum(step.text != of.query.text for step in of.steps) for of in going]
        return [next(iter(gold_steps(of.query)[n:]), None) for of, n in zip(going, done)]

    def draft(self, going: Sequence[Trajectory], top_k: int) -> list[str]:
        return [
            " ".join(step.sentence for step in gold_steps(of.query)[: len(of.steps)])
            for of in going
        ]


class SmallAgent(Agent):
    """A small sequence-to-sequence model that learned on invented worlds other than the one it plans for."""

    def __init__(self, model: SequenceToSequence, corpus: Corpus, triples: str) -> None:
        self.model, self.linker, self.facts = model, linker_of(corpus), FactReader(corpus, triples)
        self.answer = self.facts.read

    def plan(self, going: Sequence[Trajectory], policy: str = "ras") -> list[Step | None]:
        asked = []
        for of in going:
            prompt, names = small_prompt(of.query.text, self.linker)
            begun = begun_plan([step for step in of.steps if step.holes], names)
            asked.append((f"{prompt} {BEGUN} {begun}", names))
        replies = self.model.generate([prompt for prompt, _ in asked], progress=len(asked) > 64)
        return [read_plan(reply.text, names) for reply, (_, names) in zip(replies, asked)]

    def draft(self, going: Sequence[Trajectory], top_k: int) -> list[str]:
        self.answer(going, top_k)
        found = self.reason([of.query for of in going], [of.steps[-1].rows[:top_k] for of in going])
        return ["; ".join(step.sentence for step in of.steps) for of in found]

    def reason(self, queries: Sequence[Query], rows: Sequence[Sequence[int]]) -> list[Trajectory]:
        """How far the plan of each question comes with the triples of some passages; no more are looked for."""
        found = [
            Trajectory(query, graph=graph) for query, graph in zip(queries, self.facts.facts(rows))
        ]
        while going := [of for of in found if not of.ended and len(of.steps) < MOST_STEPS]:
            for of, step in zip(going, self.plan(going)):
                if step is None or step.text in {it.text for it in of.steps}:
                    of.ended = SUFFICIENT
                else:
                    step.answers = step.read(of.graph)
                    of.steps.append(step)
                    of.ended = "" if step.answers else "not found"
        return found


def small_prompt(question: str, linker: EntityLinker) -> tuple[str, Placeholders]:
    """``plan : who teaches at the employer of <n0> ?``, and what the placeholders stand for."""
    names = Placeholders()
    return f"plan : {names.hide(question, linker.mentions(question, numbers=True))}", names


def begun_plan(steps: Sequence[Step], names: Placeholders) -> str:
    """Steps with their answers, as the small planner goes on from them: ``subq <n0> > employer = <n1> ;``."""
    told = []
    for step in steps:
        holes = (
            f"{names.of(it.entity)} {'<' if it.backward else '>'} {it.relation}"
            for it in step.holes
        )
        told.append(
            f"{SMALL_SUBQ} {' & '.join(holes)} = {' '.join(map(names.of, step.answers)) or 'nothing'} ;"
        )
    return " ".join(told)


def read_plan(reply: str, names: Placeholders) -> Step | None:
    """The first step that the small planner wrote; SUFFICIENT where that is none about entities that it knows."""
    holes = []
    for part in reply.partition(" = ")[0].removeprefix(SMALL_SUBQ).split(" & "):
        known, _, rest = part.strip().partition(" ")
        direction, _, relation = rest.partition(" ")
        entity = names.entity(known)
        if entity is None or direction not in ("<", ">") or not relation:
            return None
        holes.append(Hole(entity, relation, direction == "<"))
    return Step("; ".join(hole.text for hole in holes), tuple(holes))


#: How a chat model is asked for the next step, by the loop's name, and where that stands in its reply.
_PLANNING = {
    "ras": (prompts.plan_prompt, r"\A(?:\[SUBQ\]|(?=\[NO_RETRIEVAL\]))(.*)"),  # in the first line
    "selfask": (prompts.self_ask_prompt, r"(?m)^\s*Follow up:(.*)"),
    "self-critique": (prompts.next_step_prompt, r"\A(?:Next step:)?(.*)"),
}


class ChatAgent(Agent):
    """A chat model, asked with the prompts of the papers (``prompts.toml``); what can't be read ends a loop."""

    def __init__(self, model: LanguageModel, corpus: Corpus) -> None:
        self.model, self.corpus = model, corpus

    def plan(self, going: Sequence[Trajectory], policy: str = "ras") -> list[Step | None]:
        prompt, pattern = _PLANNING[policy]
        asked = []
        for of in going:
            told = [
                step.triples if policy == "ras" else ", ".join(step.answers) for step in of.steps
            ]
            asked.append(prompt(of.query.text, list(zip([step.text for step in of.steps], told))))
        found = [re.search(pattern, reply) for reply in self._ask(asked)]
        return [Step(it[1].strip()) if it and it[1].strip() else None for it in found]

    def suffices(self, going: Sequence[Trajectory]) -> list[bool]:
        answers = [[", ".join(step.answers) for step in of.steps] for of in going]
        replies = self._ask(
            prompts.critique_prompt(of.query.text, told) for of, told in zip(going, answers)
        )
        return [
            reply.lower().startswith("yes") for reply in replies
        ]  # unparsable is no (gnn-ret-i25)

    def answer(self, going: Sequence[Trajectory], top_k: int) -> None:
        last = [of.steps[-1] for of in going]
        replies = self._ask(
            prompts.sub_answer_prompt(step.text, self._texts([step], top_k)) for step in last
        )
        for step, reply in zip(last, replies):
            step.answers = (reply,)

    def think(self, going: Sequence[Trajectory], top_k: int) -> list[Step | None]:
        asked = []
        for of in going:
            thoughts = " ".join(step.text for step in of.steps[1:])
            asked.append(
                prompts.reason_prompt(of.query.text, self._texts(of.steps, top_k), thoughts)
            )
        first = [next(iter(split_sentences(reply)), "") for reply in self._ask(asked)]
        return [Step(text) if text and "answer is" not in text.lower() else None for text in first]

    def draft(self, going: Sequence[Trajectory], top_k: int) -> list[str]:
        return self._ask(
            prompts.reason_prompt(of.query.text, self._texts(of.steps[-1:], top_k)) for of in going
        )

    def _texts(self, steps: Sequence[Step], top_k: int) -> list[str]:
        rows = dict.fromkeys(row for step in steps for row in step.rows[:top_k])
        return [self.corpus.passages[row].full_text for row in rows]

    def _ask(self, asked: Iterable[str]) -> list[str]:
        asked = list(asked)
        return [
            reply.text.strip() for reply in self.model.generate(asked, progress=len(asked) > 64)
        ]


def agent_of(text: str, corpus: Corpus, triples: str = "") -> Agent:
    """``gold``, or an agent by its language model, as :func:`language_model` takes it; a ``t5:`` is a small one.

    ``triples`` is the source of the facts that the small one reads, by default the same model.
    """
    if text == GOLD:
        return GoldAgent()
    model = language_model(text, longest_answer=LONGEST_PLAN)
    small = isinstance(model, SequenceToSequence)
    return SmallAgent(model, corpus, triples or text) if small else ChatAgent(model, corpus)
