"""Work that several processes share."""

import pytest

from kit.errors import Note, note
from kit.lab.parallel import in_parallel


def noted(n: int) -> int:
    note(f"{n} of 3")
    return n


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_process_notes_is_told_where_its_result_goes(jobs: int) -> None:
    with pytest.warns(Note) as notes:
        results = sorted(in_parallel(noted, [(1,), (2,)], jobs))
    assert results == [1, 2]
    assert sorted(str(warning.message) for warning in notes) == ["1 of 3", "2 of 3"]
