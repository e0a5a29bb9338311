"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers' claims."""

from kit.evaluation.experiment import (
    SEED,
    Experiment,
    all_seeds,
    evaluate,
    mean_over_seeds,
    of_seeds,
    per_question,
)

# isort: split
from kit.evaluation.experiment import variants
from kit.evaluation.papers import paper_numbers, paper_table
from kit.evaluation.timing import time_parts
