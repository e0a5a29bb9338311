"""What the small model reads and what it is to write.

Plans (RAS, Algorithm 1) and facts (Appendix C.2).
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random

from kit.corpus import PlainTriple, Question
from kit.corpus.sentences import split_sentences
from kit.methods.loops.small_plan import SMALL_SUFFICIENT, begun_plan, small_prompt
from kit.methods.loops.steps import Hole, Step
from kit.text.placeholders import EntityLinker, Placeholders, key_of, plain
from kit.text.triples import fact_prompt
from kit.worlds import atlas
from kit.worlds.atlas.world import Entity, Fact

LABELS = {name: relation.label for name, relation in atlas.RELATIONS.items()}
SYMMETRIC = {LABELS[name] for name in atlas.SYMMETRIC}
IN_VAIN = 0.2  # share of questions of which one step finds nothing
NO_FACT = "none"  # the answer about a sentence that states nothing


def gold_plan(question: Question) -> list[Step]:
    """The steps that need a passage as triples with holes, with what fills them.

    Of a fact whose subject is not known yet the subject is asked for, and with it all else that is
    to hold of it. A relation that holds both ways, marriage, is always asked forward. Steps that
    ask the same are one with all answers.
    """
    names: set[str] = set()  # that earlier steps found
    plan: dict[tuple[Hole, ...], list[str]] = {}
    for step in question.decomposition:
        if step.support is None:
            continue
        subject, relation, target = question.triples[step.support]
        if relation in SYMMETRIC and not _is_named(subject, question, names):
            subject, target = target, subject

        if _is_named(subject, question, names):
            holes = (Hole(subject, relation),)
            answer = target
        else:
            facts = [(subject, relation, target)]
            if step.answer == subject:
                facts += _further_facts(question, subject)
            holes = tuple(Hole(end, name, backward=True) for _, name, end in facts)
            answer = subject
        plan.setdefault(holes, []).append(answer)
        names.add(key_of(answer))
    return [Step("", holes, answers=tuple(answers)) for holes, answers in plan.items()]


def _is_named(name: str, question: Question, names: set[str]) -> bool:
    """Whether the question or an earlier answer has the name."""
    key = key_of(name)
    pattern = rf"(?<!\w){re.escape(key)}(?!\w)"
    return key in names or re.search(pattern, question.text.lower()) is not None


def _further_facts(question: Question, subject: str) -> list[PlainTriple]:
    """What else the question says of a subject, beside its supports."""
    triples = question.triples[question.hops :]
    return [triple for triple in triples if triple[0] == subject]


def plan_pair(
    question: Question,
    linker: EntityLinker,
    rng: Random | None = None,
) -> tuple[str, str] | None:
    """The question, and all steps with their answers up to the word that they suffice.

    With ``rng`` one step of a question now and then finds nothing, and those that need its answer
    are left out. None where the question calls something by a name that its triples don't have.
    """
    steps = gold_plan(question)
    if rng and rng.random() < IN_VAIN:
        failing = rng.randrange(len(steps))
        steps = _steps_if_failing(steps, failing)

    prompt, names = small_prompt(question.text, linker)
    for step in steps:
        if not all(hole.entity in names for hole in step.holes):
            return None
        for answer in step.answers:
            names.placeholder(answer)
    return prompt, f"{begun_plan(steps, names)} {SMALL_SUFFICIENT}"


def _steps_if_failing(steps: list[Step], failing: int) -> list[Step]:
    """The steps that are left when one finds nothing."""
    lost: set[str] = set()
    kept = []
    for index, step in enumerate(steps):
        in_vain = any(key_of(hole.entity) in lost for hole in step.holes)
        if in_vain or index == failing:
            lost.update(map(key_of, step.answers))
            step.answers = ()
        if not in_vain:
            kept.append(step)
    return kept


def fact_pairs(world: atlas.Atlas, linker: EntityLinker) -> Iterator[tuple[str, str]]:
    """A prompt for each sentence of an invented world, with the facts that it states."""
    stated = defaultdict(list)
    for fact in world.world.facts:
        stated[fact.passage, fact.sentence].append(fact)

    for passage in world.benchmark.corpus.passages:
        for sentence in split_sentences(passage.text):
            prompt, names = fact_prompt(linker, passage, sentence)
            facts = [
                _in_words(fact, sentence, names, linker) for fact in stated[passage.id, sentence]
            ]
            texts = [text for _, text in sorted(facts)]
            yield prompt, " ; ".join(texts) or NO_FACT


def _in_words(
    fact: Fact,
    sentence: str,
    names: Placeholders,
    linker: EntityLinker,
) -> tuple[int, str]:
    """Where a sentence states a fact, and its object, then its qualifiers in the model's words."""
    name = atlas.text_of(fact.object)
    if isinstance(fact.object, Entity):
        forms = (name, *fact.object.surfaces, fact.object.title)
        name = next((form for form in forms if form in names), name)
    elements = {LABELS[fact.relation]: name}
    for qualifier, text in fact.qualifiers.items():
        if text in sentence:
            elements[qualifier] = text

    parts = [f"{label} = {_value(text, names, linker)}" for label, text in elements.items()]
    return sentence.find(name), " , ".join(parts)


def _value(text: str, names: Placeholders, linker: EntityLinker) -> str:
    """Placeholders, of a list those of all its names, or else the words."""
    if text in names:
        return names.placeholder(text)
    mentions = linker.mentions(text, numbers=True)
    entities = [mention.entity for mention in mentions]
    if entities and all(entity in names for entity in entities):
        return " ".join(map(names.placeholder, entities))
    return plain(text).replace(" ,", "")
