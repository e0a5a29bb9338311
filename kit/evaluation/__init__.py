"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers."""

from kit.evaluation.experiment import (
    all_seeds,
    before_training,
    evaluate,
    mean_over_seeds,
    of_seeds,
)
from kit.evaluation.papers import paper_numbers, paper_table
from kit.evaluation.results import SEED, Experiment, per_question, per_seed, variants
from kit.evaluation.timing import time_parts
