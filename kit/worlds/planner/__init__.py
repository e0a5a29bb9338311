"""The planner: a small T5 that plans and reads facts, learned on invented worlds (``kit data make planner``)."""

from kit.worlds.planner.generate import main
from kit.worlds.planner.learn import Learning, by_epoch, learn
from kit.worlds.planner.measure import right_steps, stated_facts
from kit.worlds.planner.pairs import fact_pairs, gold_plan, plan_pair
