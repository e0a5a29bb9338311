"""What the tests of RAS's answerer share."""

import pytest

from kit.corpus import Query
from kit.methods.loops.steps import Hole, Step, Trajectory


@pytest.fixture
def grow():
    """A question's graph after steps with these answers."""

    def trajectory(*answers: tuple[str, ...]) -> Trajectory:
        holes = (Hole("Ada", "born"),)
        steps = [Step(f"s{n}", holes, answers=read_off) for n, read_off in enumerate(answers)]
        graph = {("Ada", "born", "1901"): 0, ("Bo", "born", "1905"): 1, ("Bo", "of", "Orm"): 1}
        return Trajectory(Query("q", "Who?"), steps, graph)

    return trajectory
