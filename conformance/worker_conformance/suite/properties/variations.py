"""Variations: the same world once more, with something that must make no difference.

Each takes what was played and gives a program for two courses: the plain one, and one in which
Events come twice, the process dies, the disk is lost, a link is cut. It does so at many steps of
one course; whoever shortens a failure finds the step that matters. Never plays and never compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from worker_conformance.scenario.generation import Stage
from worker_conformance.scenario.generation.programs import FORGERIES, SILENCED
from worker_conformance.scenario.model import (
    Act,
    Action,
    ActKind,
    Advance,
    Answer,
    Crash,
    Deliver,
    Delivery,
    Forge,
    Link,
    Publish,
    Report,
    SetPolicy,
    Start,
    Stop,
    Truncate,
    Wipe,
)
from worker_conformance.scenario.settings import SILENCE
from worker_conformance.suite.properties.program import Line, Program, Where, lines
from worker_conformance.suite.properties.stagehand import Cue

Variation = Callable[[Random, Sequence[Action]], Program]

Around = tuple[Sequence[Cue], Sequence[Cue]]
"""What happens before a span of steps, and what after it."""

SHARE = 0.4  # of the steps of a course at which something is varied
SHARE_OF_HISTORIES = 0.2  # where each variation takes as long as all that was before it
GROUP_CUT_SECONDS = 60  # a lease that nobody can renew must not run out while its Group is cut
SPAN_MAX = 3  # steps that one cut or one held-back delivery lasts

_MANUAL, _AUTO = Delivery("manual"), Delivery("auto")


# --- something more at a step -------------------------------------------------------------


def _sprinkled(make: Callable[[Random], Sequence[Cue]], share: float = SHARE) -> Variation:
    """Something more after some of the steps, at least one of them."""

    def vary(random: Random, actions: Sequence[Action]) -> Program:
        steps = _chosen(random, len(actions), share)
        program: list[Line] = []
        for number, action in enumerate(actions):
            program.append(Line(action))
            if number in steps:
                program += lines(make(random), Where.VARIED)
        return tuple(program)

    return vary


def _chosen(random: Random, count: int, share: float) -> frozenset[int]:
    some = {number for number in range(count) if random.random() < share}
    return frozenset(some | {random.randrange(count)})


def _again(random: Random) -> Sequence[Cue]:
    """Events of the past, each Group's in any order, many of them twice."""
    seed = random.getrandbits(32)

    def deliver(stage: Stage) -> Sequence[Action]:
        drawn = Random(seed)  # noqa: S311 - no secret
        past = {
            name: tuple(drawn.choices(range(1, group.delivered + 1), k=4))
            for name, group in stage.groups.items()
            if stage.reaches(name) and group.delivered
        }
        return [Deliver(past)] if past else []

    return [deliver]


def _all_again(stage: Stage) -> Sequence[Action]:
    """Everything that was ever delivered, in its order."""
    past = {
        name: tuple(range(1, group.events + 1))
        for name, group in stage.groups.items()
        if stage.reaches(name)
    }
    return [Deliver(past)] if past else []


def _snapshots(random: Random) -> Sequence[Cue]:
    """The disk is lost, and most of each Group's history is not online any more."""
    left = random.choice((0, 0, 1, 3))

    def truncate(stage: Stage) -> Sequence[Action]:
        return [
            Truncate(name, group.events - left)
            for name, group in stage.groups.items()
            if group.events > left and group.offline_through < group.events - left
        ]

    return [Crash(), Wipe(), truncate, Start()]


def _silence(random: Random) -> Sequence[Cue]:
    return [Answer(random.choice(SILENCED), SILENCE)]


def _noise(random: Random) -> Sequence[Cue]:
    kinds = random.choices(
        (Act(ActKind.MESSAGE), Act(ActKind.EXTENSION, args={"critical": False})), k=2
    )

    def publish(stage: Stage) -> Sequence[Action]:
        acts = {one.name: tuple(kinds) for one in stage.lively_groups()}
        return [Publish(acts)] if acts else []

    return [publish]


def _forgery(random: Random) -> Sequence[Cue]:
    how, back = random.choice(FORGERIES), random.randrange(4)

    def forge(stage: Stage) -> Sequence[Action]:
        return [
            Forge(name, max(1, group.events - back), how)
            for name, group in stage.groups.items()
            if stage.reaches(name)
        ]

    return [forge]


duplicates = _sprinkled(_again)
redelivery = _sprinkled(lambda _: [Crash(), Start(), _all_again], SHARE_OF_HISTORIES)
crashes = _sprinkled(lambda _: [Crash(), Start()])
stops = _sprinkled(lambda _: [Stop(), Start()])
lost_disks = _sprinkled(lambda _: [Crash(), Wipe(), Start()])
snapshots = _sprinkled(_snapshots)
replaced_sessions = _sprinkled(lambda _: [Link("down"), Link("up")])
unanswered = _sprinkled(_silence)
noise = _sprinkled(_noise)
forgeries = _sprinkled(_forgery)


# --- something around some steps ----------------------------------------------------------


def _around(
    make: Callable[[Random, Sequence[Action]], Around],
    *,
    seconds_max: int | None = None,
) -> Variation:
    """Something before and after short spans of steps; spans lie apart."""

    def vary(random: Random, actions: Sequence[Action]) -> Program:
        program: list[Line] = []
        rest = list(actions)
        program += lines(rest[:1])  # a session has to begin before anything can be cut
        del rest[:1]
        while rest:
            span = rest[: random.randint(1, SPAN_MAX)]
            del rest[: len(span)]
            if random.random() < SHARE and _lasts(span) <= (seconds_max or _lasts(span)):
                before, after = make(random, span)
                program += lines(before, Where.VARIED) + lines(span) + lines(after, Where.VARIED)
            else:
                program += lines(span)
        return tuple(program)

    return vary


def _lasts(span: Sequence[Action]) -> int:
    return sum(action.seconds for action in span if isinstance(action, Advance))


def _group_cut(random: Random, span: Sequence[Action]) -> Around:
    """One Group's link breaks; which one is left to the stage."""
    del span
    which = random.getrandbits(8)

    def one(stage: Stage) -> str:
        return sorted(stage.groups)[which % len(stage.groups)]

    return (
        [lambda stage: [Link("down", (one(stage),))]],
        [lambda stage: [Link("up", (one(stage),))]],
    )


def _connection_cut(*_: object) -> Around:
    return [Link("down")], [Link("up")]


def _answers_lost(*_: object) -> Around:
    return [_MANUAL], [Crash(), _AUTO, Start()]


def _held_back(shuffle: Callable[[Random, list[int]], Sequence[int]]) -> Variation:
    """Events are held back for a while, then come in another order or grouping."""

    def make(random: Random, _: Sequence[Action]) -> Around:
        seed = random.getrandbits(32)

        def deliver(stage: Stage) -> Sequence[Action]:
            drawn = Random(seed)  # noqa: S311 - no secret
            owing = [name for name in sorted(stage.groups) if stage.groups[name].owed]
            drawn.shuffle(owing)
            some: list[Action] = []
            for name in owing:
                if stage.reaches(name):
                    order = tuple(shuffle(drawn, list(stage.groups[name].owed)))
                    some.append(Deliver({name: order}, one_by_one=drawn.random() < SHARE))
                    some += [Deliver({name: rest})] if (rest := _above_a_gap(order)) else []
            return some

        return [_MANUAL], [deliver, _AUTO]

    return _around(make)


def _above_a_gap(order: Sequence[int]) -> tuple[int, ...]:
    """What a Worker that discards Events above a gap has not taken, and gets again."""
    expected = min(order)
    for sequence in order:
        expected += sequence == expected
    return tuple(sorted(one for one in order if one >= expected))


def _shuffled(random: Random, owed: list[int]) -> Sequence[int]:
    random.shuffle(owed)
    return owed


def _in_order(_: Random, owed: list[int]) -> Sequence[int]:
    return owed


cut_connection = _around(_connection_cut)
cut_group = _around(_group_cut, seconds_max=GROUP_CUT_SECONDS)
lost_answers = _around(_answers_lost)
reordered = _held_back(_shuffled)
interleaved = _held_back(_in_order)


# --- a world without its neighbours -------------------------------------------------------


def alone(random: Random, actions: Sequence[Action]) -> Program:
    """The plain course has all Groups; in the varied one only one of them is active."""
    groups = sorted({name for action in actions for name in _groups_of(action)})
    kept = random.choice(groups) if groups else "A"
    program: list[Line] = []
    for action in actions:
        program += _apart(action, kept)
    return tuple(program)


def _apart(action: Action, kept: str) -> Sequence[Line]:
    about = _groups_of(action)
    if not about or about == {kept}:
        return [Line(action)]
    return [Line(action, Where.PLAIN)]


def _groups_of(action: Action) -> set[str]:
    """The Groups that an action of a calm world is about; WorkItems begin with their Group."""
    match action:
        case Publish(acts=acts):
            return set(acts)
        case Report(work=work):
            return {work[0].upper()}
        case SetPolicy(groups=groups, work=work):
            return {*groups, *(name[0].upper() for name in work)}
        case _:
            return set()
