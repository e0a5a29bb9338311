"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers' claims."""

from kit.evaluation.answers import judge_answers, read_answers, summarise_answers
from kit.evaluation.claims import CLAIMS, Claim, Finding, finding, verdict, verdicts
from kit.evaluation.experiment import Experiment, evaluate
from kit.evaluation.histories import by_setting, histories, over_pool
from kit.evaluation.learning import by_layers, learn_weights, over_grid
from kit.evaluation.noise import attention_on_supports, likeness, misspelt, with_random_edges
from kit.evaluation.papers import paper_graphs, paper_numbers, paper_table
from kit.evaluation.ranks import by_end, ends_found, first_and_last
from kit.evaluation.steps import recalls_with_wrong_steps, step_recalls, with_wrong_steps
from kit.evaluation.structures import fetched_structures, held_passages, structure_scores
from kit.evaluation.variants import difference, per_question, variants

__all__ = [
    "CLAIMS",
    "Claim",
    "Experiment",
    "Finding",
    "attention_on_supports",
    "by_end",
    "by_layers",
    "by_setting",
    "difference",
    "ends_found",
    "evaluate",
    "fetched_structures",
    "finding",
    "first_and_last",
    "held_passages",
    "histories",
    "judge_answers",
    "learn_weights",
    "likeness",
    "misspelt",
    "over_grid",
    "over_pool",
    "paper_graphs",
    "paper_numbers",
    "paper_table",
    "per_question",
    "read_answers",
    "recalls_with_wrong_steps",
    "step_recalls",
    "structure_scores",
    "summarise_answers",
    "variants",
    "verdict",
    "verdicts",
    "with_random_edges",
    "with_wrong_steps",
]
