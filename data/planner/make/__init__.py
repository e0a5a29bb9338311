"""The planner: a small T5 that plans and reads facts, learned on invented worlds (``kit data make planner``)."""

from .generate import main
from .learn import Learning, by_epoch, learn
from .measure import right_steps, stated_facts
from .pairs import fact_pairs, gold_plan, plan_pair
