"""The trace of a retrieval: what happened, event by event, so that any view can replay it."""

import msgspec

from kit.corpus import PlainTriple

PassagePairs = tuple[tuple[str, str], ...]


class Event(msgspec.Struct, frozen=True, tag_field="kind"):
    """Something that happened, in a ``round`` from 0: a layer, a hop, a sub-question."""

    round: int


class InitialScore(Event, frozen=True, tag="scored"):
    """What a passage's text alone is worth to the round's query (higher is nearer)."""

    passage: str
    score: float


class Seed(Event, frozen=True, tag="seed"):
    """A passage that the round started from, with its score (higher is nearer)."""

    passage: str
    score: float


class Message(Event, frozen=True, tag="message"):
    """A value that one passage passed to another, and the other's score before and after the round.

    With all messages of the round to one target, after = (1 − Σ weight) · before +
    Σ weight · value. Where source and target are the same passage, it carries its own score over
    from an earlier round.
    """

    source: str
    target: str
    value: float
    weight: float
    before: float
    after: float


class NodeVisit(Event, frozen=True, tag="visit"):
    """A passage that a walk went to, from where, how it scored, and what the agent looked for."""

    passage: str
    source: str  # empty where a path begins
    score: float
    generated_evidence: str = ""
    before: tuple[str, ...] = ()  # the passages of the path that come before `source`


class SubQuestionEvent(Event, frozen=True, tag="asked"):
    """A sub-question that opened a round, with the answer that it got (empty while unknown)."""

    text: str
    answer: str = ""


class Exchange(Event, frozen=True, tag="exchanged"):
    """What a chat model was asked in a round, and what it replied."""

    prompt: str
    reply: str


class Expansion(Event, frozen=True, tag="expanded"):
    """A path from which BGR judged all candidates.

    ``candidates`` says how probable each is (from 0 to 1, best first), ``taken`` which it took:
    those above the ``threshold``, or the best one where a search must begin.
    """

    direction: str
    path: tuple[str, ...]
    taken: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    threshold: float = 0.5


class Merge(Event, frozen=True, tag="merged"):
    """The edges of both directions and those that are kept, as pairs of passages.

    The question is ``""``.
    """

    forward: PassagePairs
    backward: PassagePairs
    kept: PassagePairs
    reason: str  # how it was decided


class GraphGrowth(Event, frozen=True, tag="grown"):
    """What a round of RAS brought.

    New triples (subject, relation, object) of the question's graph, answers read off, what the
    planner said then, and how probable each answer to the question is by this graph, best first.
    """

    triples: tuple[PlainTriple, ...]
    answers: tuple[str, ...] = ()
    decision: str = ""
    scores: tuple[tuple[str, float], ...] = ()


class Sender(msgspec.Struct, frozen=True):
    """Whom a passage heard: another passage, through an entity, with its share of all it heard."""

    passage: str
    entity: str
    share: float


class Hearing(Event, frozen=True, tag="heard"):
    """What a passage heard in a round of messages, and its score before and after the round.

    ``senders`` are those that it heard most of, the first most.
    """

    passage: str
    senders: tuple[Sender, ...]
    before: float
    after: float


AnyEvent = (
    InitialScore
    | Seed
    | Message
    | NodeVisit
    | SubQuestionEvent
    | Exchange
    | Expansion
    | Merge
    | GraphGrowth
    | Hearing
)


class Trace(msgspec.Struct, frozen=True):
    """The events of one retrieval in the order in which they happened: enough to replay it."""

    events: tuple[AnyEvent, ...] = ()
    #: The passages that a walk's agent compared with what it looked for, each time that it did.
    n_scored: int = 0

    @property
    def seeds(self) -> tuple[Seed, ...]:
        return tuple(step for step in self.events if isinstance(step, Seed))
