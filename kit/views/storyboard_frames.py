"""Which frames of a replay a storyboard shows: those in which something happens to the supports."""

from math import log

from kit.views.replay import Frame, Replay

_FEWEST = 3
_MOST = 5
_SHARE = 0.2  # of the greatest change: a frame in which less changes is left out


def eventful_steps(replay: Replay) -> list[int]:
    """The first and the last frame, and up to three in which the supports' ranks change most.

    Where no rank changes, the frame in which most edges stand out is between them.
    """
    n = len(replay.frames)
    if n <= _FEWEST + 1:
        return list(range(n))

    changes = {}
    for step in range(1, n - 1):
        n_strong = sum(edge.emphasised for edge in replay.frames[step].edges)
        changes[step] = _change(replay, step), n_strong
    ordered = sorted(changes, key=changes.get, reverse=True)

    greatest, _ = changes[ordered[0]]
    n_events = 0
    for change, _ in changes.values():
        if change > 0 and change >= _SHARE * greatest:
            n_events += 1
    n_shown = min(max(n_events, _FEWEST - 2), _MOST - 2)
    return [0, *sorted(ordered[:n_shown]), n - 1]


def _change(replay: Replay, step: int) -> float:
    """How much the supports' ranks change in a step, as logarithms: near the top counts most.

    A support that is reached for the first time counts 1.
    """
    frame = replay.frames[step]
    ranks = _ranks(frame)
    reached = _reached(replay, frame)
    reached_before = _reached(replay, replay.frames[step - 1])
    change = 0.0
    for node in replay.nodes:
        if not node.gold:
            continue
        rank, moved = ranks.get(node.id, (1, 0))
        if moved:
            change += abs(log((rank + moved) / rank))
        elif node.id in reached - reached_before:
            change += 1
    return change


def _ranks(frame: Frame) -> dict[str, tuple[int, int]]:
    """The ranks in a frame's first ranking, and how far each passage rose."""
    ranks = {}
    for column in frame.columns[:1]:
        for position, item in enumerate(column.items, start=1):
            ranks[item.node] = (item.rank or position, item.moved)
    return ranks


def _reached(replay: Replay, frame: Frame) -> set[str]:
    """The passages that a frame has: as nodes, or ranked where no support is a node."""
    roles = {state.node: state.role for state in frame.states}
    supports = [node.id for node in replay.nodes if node.gold]
    if roles.keys().isdisjoint(supports):
        return set(_ranks(frame))
    return {name for name, role in roles.items() if role != "missed"}
