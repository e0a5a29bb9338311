"""What the small model is asked and what it is to write: plans (ras.txt, Algorithm 1) and facts (Appendix C.2)."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator

from kit.corpus import Question
from kit.corpus.sentences import split_sentences
from kit.methods.loops.agents import SMALL_SUFFICIENT, Hole, Step, begun_plan, small_prompt
from kit.text.placeholders import EntityLinker, Placeholders, key_of, plain
from kit.text.triples import fact_prompt
from kit.worlds import atlas

LABELS = {name: relation.label for name, relation in atlas.RELATIONS.items()}
SYMMETRIC = {LABELS[name] for name in atlas.SYMMETRIC}
IN_VAIN = 0.2  # share of questions of which one step finds nothing


def gold_plan(question: Question) -> list[Step]:
    """The steps that need a passage as triples with holes, with what fills them.

    Of a fact whose subject is not known yet the subject is asked for, and with it all else that is to hold of it. A
    relation that holds both ways, marriage, is always asked forward. Steps that ask the same are one with all answers.
    """
    known: set[str] = set()
    plan: dict[tuple[Hole, ...], list[str]] = {}

    def is_known(name: str) -> bool:
        named = re.search(rf"(?<!\w){re.escape(key_of(name))}(?!\w)", question.text.lower())
        return key_of(name) in known or named is not None

    for step in question.decomposition:
        if step.support is None:
            continue
        subject, relation, object = question.triples[step.support]
        if not is_known(subject) and relation in SYMMETRIC:
            subject, object = object, subject
        if is_known(subject):
            holes, answer = (Hole(subject, relation),), object
        else:
            also = [
                it
                for it in question.triples[question.hops :]
                if it[0] == subject and step.answer == subject
            ]
            facts = [(subject, relation, object), *also]
            holes, answer = tuple(Hole(it[2], it[1], backward=True) for it in facts), subject
        plan.setdefault(holes, []).append(answer)
        known.add(key_of(answer))
    return [Step("", holes, answers=tuple(answers)) for holes, answers in plan.items()]


def plan_pair(
    question: Question, linker: EntityLinker, rng: random.Random | None = None
) -> tuple[str, str] | None:
    """The question, and all steps with their answers up to the word that what is known suffices.

    With ``rng`` one step of a question now and then finds nothing, and those that need its answer are left out. None
    where the question calls something by a name that its triples don't have.
    """
    steps, kept, lost = gold_plan(question), [], set()
    failing = rng.randrange(len(steps)) if rng and rng.random() < IN_VAIN else None
    for number, step in enumerate(steps):
        in_vain = any(key_of(hole.entity) in lost for hole in step.holes)
        if in_vain or number == failing:
            lost.update(map(key_of, step.answers))
            step.answers = ()
        if not in_vain:
            kept.append(step)
    prompt, names = small_prompt(question.text, linker)
    for step in kept:
        if not all(hole.entity in names for hole in step.holes):
            return None
        for answer in step.answers:
            names.of(answer)
    return prompt, f"{begun_plan(kept, names)} {SMALL_SUFFICIENT}"


def fact_pairs(world, linker: EntityLinker) -> Iterator[tuple[str, str]]:
    """A prompt for each sentence of an invented world (``Atlas`` of its maker), with the facts that it states."""
    stated = defaultdict(list)
    for fact in world.world.facts:
        stated[fact.passage, fact.sentence].append(fact)
    for passage in world.benchmark.corpus.passages:
        for sentence in split_sentences(passage.text):
            prompt, names = fact_prompt(linker, passage, sentence)
            told = sorted(
                _told(fact, sentence, names, linker) for fact in stated[passage.id, sentence]
            )
            yield prompt, " ; ".join(text for _, text in told) or "none"


def _told(fact, sentence: str, names: Placeholders, linker: EntityLinker) -> tuple[int, str]:
    """Where a sentence states a fact, and the fact in the model's words: its object, then its qualifiers."""
    forms = [
        atlas.text_of(fact.object),
        *getattr(fact.object, "surfaces", ()),
        getattr(fact.object, "title", ""),
    ]
    name = next((form for form in forms if form in names), forms[0])
    parts = [f"{LABELS[fact.relation]} = {_value(name, names, linker)}"]
    parts += [
        f"{key} = {_value(value, names, linker)}"
        for key, value in fact.qualifiers.items()
        if value in sentence
    ]
    return sentence.find(name), " , ".join(parts)


def _value(text: str, names: Placeholders, linker: EntityLinker) -> str:
    """Placeholders, of a list those of all its names, or else the words."""
    listed = [mention.entity for mention in linker.mentions(text, numbers=True)]
    if text in names or not listed or not all(entity in names for entity in listed):
        return names.of(text) if text in names else plain(text).replace(" ,", "")
    return " ".join(map(names.of, listed))
