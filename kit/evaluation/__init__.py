"""How good a retriever or a graph is, how sure we are of it, and what that says of the papers' claims."""

from kit.evaluation.answers import judge_answers, read_answers, summarise_answers
from kit.evaluation.claims import CLAIMS, Claim, Finding, finding, verdict, verdicts
from kit.evaluation.experiment import Experiment, ends_of_chains, evaluate, per_question, variants
from kit.evaluation.learning import along_setting, histories, learn_weights, over_pool
from kit.evaluation.papers import paper_numbers, paper_table
from kit.evaluation.timing import time_parts
