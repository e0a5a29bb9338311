"""How crowded a corpus is, counted by hand; and worlds to learn from beside real sets."""

import pytest

from kit.corpus import Corpus, Passage, Question, SubQuestion
from kit.worlds import generated
from kit.worlds.networks.crowding import crowding


def test_crowding_by_hand():
    """Ann Holt was born in Holtby; two other titles have a word of hers, a film has Holtby."""
    texts = {
        "Ann Holt": "Ann Holt was born in Holtby.",
        "Holtby": "Holtby is a town on the Wye.",
        "Ben Holt": "Ben Holt sold umbrellas.",
        "Ann's Umbrella": "A film that was shot in Holtby.",
        "The Wye": "A river.",
    }
    passages = [Passage(title, title, text, title, 0) for title, text in texts.items()]
    question = Question(
        id="q",
        text="On which river is the birthplace of Ann Holt?",
        answer="Wye",
        supporting=(("Ann Holt",), ("Holtby",)),
        decomposition=(
            SubQuestion("Where was Ann Holt born?", "Holtby", 0),
            SubQuestion("On which river is #1?", "Wye", 1, (0,)),
        ),
    )
    measured = crowding(Corpus(passages), [question])
    assert measured["like-named"] == (2 + 0) / 2  # Ann and Holt; Holtby alone
    assert measured["title words"] == 3  # Ann twice, Holt twice, one of them Ann Holt
    assert measured["mentions"] == 3  # Holtby in her passage, in its own and in the film's
    # Of "On which river is Holtby?" the passage of the river comes first.
    assert measured["step first"] == 0.5 and measured["step beyond 5"] == 0


def test_a_crowded_world_has_more_things_of_like_names():
    measured = {}
    for crowded in (False, True):
        world = generated(
            "atlas",
            seed=3,
            size="small",
            own_words=True,
            crowded=crowded,
        )
        measured[crowded] = crowding(world.corpus, world.train)
    assert measured[True]["like-named"] > 1.3 * measured[False]["like-named"]
    assert measured[True]["title words"] > measured[False]["title words"]
    assert measured[True]["step first"] < measured[False]["step first"] + 0.03
    assert measured[True]["mentions"] == pytest.approx(measured[False]["mentions"], rel=0.5)
