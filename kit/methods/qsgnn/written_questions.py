"""Synthetic questions for pre-training, written by a language model (QSGNN §3.3, Figures 13, 14).

Half of the prompts show one passage, the others two that share a name. What the model says is the
answer is not used: QSGNN learns which passages a question needs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from kit import cost
from kit.corpus import Corpus
from kit.corpus.types import Texts
from kit.methods.qsgnn.questions import TrainingQuestion
from kit.methods.training import draw
from kit.text import LanguageModel
from kit.text.entities import fold
from kit.text.prompts import extraction_prompt, two_hop_questions_prompt
from kit.text.replies import listed_in
from kit.text.triples import Extraction

A_PROMPT = 3  # questions that a reply may be expected to have
MOST_SHARING = 5  # passages that have a name which joins two of them: others are everywhere

Rows = tuple[int, ...]


def written_questions(
    model: LanguageModel,
    corpus: Corpus,
    extractions: Sequence[Extraction],
    n: int,
    seed: int,
) -> list[TrainingQuestion]:
    """At most ``n`` questions that a model writes about passages, and about pairs of them.

    What a reply has that can't be read is counted and left out.
    """
    names = [names_of(extraction) for extraction in extractions]
    n_prompts = -(-n // (2 * A_PROMPT))
    single = draw([(row,) for row in range(len(corpus)) if names[row]], n_prompts, seed)
    joined = draw(list(pairs_over_names(names)), n_prompts, seed)

    prompts = []
    for rows in [*single, *joined]:
        passages = [corpus.passages[row] for row in rows]
        if len(rows) == 1:
            prompts.append(extraction_prompt("one_hop_questions", *passages, names[rows[0]]))
        else:
            prompts.append(two_hop_questions_prompt(passages, [names[row] for row in rows]))

    questions = []
    for rows, reply in zip([*single, *joined], model.generate(prompts)):
        questions += questions_in(reply.text, rows)
    return draw(questions, n, seed)


def names_of(extraction: Extraction) -> Texts:
    """The ends of a passage's triples, each once."""
    names = {}
    for triple in extraction.triples:
        for end in (triple.subject, triple.object):
            names.setdefault(fold(end), end)
    return list(names.values())


def pairs_over_names(names: Sequence[Texts]) -> Iterator[Rows]:
    """The rows of two passages that share a name which few have."""
    by_name = defaultdict(list)
    for row, of_passage in enumerate(names):
        for name in of_passage:
            by_name[fold(name)].append(row)
    pairs = {}
    for rows in by_name.values():
        if len(rows) <= MOST_SHARING:
            pairs |= dict.fromkeys(combinations(rows, 2))
    yield from pairs


def questions_in(reply: str, rows: Rows) -> list[TrainingQuestion]:
    """The questions of a reply about the passages in these rows.

    Those about a pair say by ``doc`` which of the two they need, such as ``"0,1"``.
    """
    key = "query-answer pairs" if len(rows) == 1 else "question-answer-doc triples"
    items = listed_in(reply, key) or [None]
    questions = []
    for item in items:
        written = item if isinstance(item, dict) else {}
        text = str(written.get("question", "")).strip()
        needed = str(written.get("doc", 0)).split(",")
        supports = tuple(rows[int(index)] for index in needed if index.strip() in ("0", "1"))
        if text and supports:
            questions.append(TrainingQuestion(text, supports))
    cost.count(unread=len(items) - len(questions))
    return questions
