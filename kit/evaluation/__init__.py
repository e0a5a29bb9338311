"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers' claims."""

from kit.evaluation.budgets import count_found, passages_to_rank, summarise_budgets, within_budgets
from kit.evaluation.claims import CLAIMS, Claim, Finding, finding, verdict, verdicts
from kit.evaluation.experiment import Experiment, evaluate
from kit.evaluation.learning import by_layers, learn_weights, over_grid
from kit.evaluation.papers import paper_graphs, paper_numbers, paper_table
from kit.evaluation.ranks import first_and_last
from kit.evaluation.steps import recalls_with_wrong_steps, step_recalls, with_wrong_steps
from kit.evaluation.variants import difference, per_question, variants

__all__ = [
    "CLAIMS",
    "Claim",
    "Experiment",
    "Finding",
    "by_layers",
    "count_found",
    "difference",
    "evaluate",
    "finding",
    "first_and_last",
    "learn_weights",
    "over_grid",
    "paper_graphs",
    "paper_numbers",
    "paper_table",
    "passages_to_rank",
    "per_question",
    "recalls_with_wrong_steps",
    "step_recalls",
    "summarise_budgets",
    "variants",
    "verdict",
    "verdicts",
    "with_wrong_steps",
    "within_budgets",
]
