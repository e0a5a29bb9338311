"""The planner: a small T5 that plans and reads facts, learned on invented worlds.

``kit data make planner`` trains it.
"""

from kit.worlds.planner.generate import main
from kit.worlds.planner.learn import Learning, SmallT5, by_epoch
from kit.worlds.planner.measure import right_steps, stated_facts
from kit.worlds.planner.pairs import fact_pairs, gold_plan, plan_pair
