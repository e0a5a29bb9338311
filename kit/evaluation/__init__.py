"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers' claims."""

from kit.evaluation.claims import paper_numbers, paper_table
from kit.evaluation.experiment import Experiment, ends_of_chains, evaluate, per_question, variants

# isort: split
from kit.evaluation.experiment import (
    SEED,
    all_seeds,
    along_setting,
    histories,
    learn_weights,
    mean_over_seeds,
    of_seeds,
    over_pool,
)
from kit.evaluation.timing import time_parts
