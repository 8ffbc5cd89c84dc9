"""MON-0011 judges what a repetition starts, and not what a refusal leads to."""

from __future__ import annotations

from typing import Any

from worker_conformance.judge.verdicts import Failure
from worker_conformance.scenario.loader import load_text
from worker_conformance.selftest.copies import Parts, altered, notes

SCENE = """
id: REPLAY-9000
title: A result is refused, and the history is delivered again
stake: >
  The work may be done again because its result was refused, and not because old news came again.
requirement: WRK-029.a
level: MUST
profile: replay
twin: REPLAY-9001
groups: {A: {}}
work: {a1: {duration: 60}}
log:
  A: [created, member, {authorize: a1}, {offer: a1}]
delivery: auto
steps:
  - answer: {work.submit: INVALID_STATE_TRANSITION}
  - answer: {work.submit: INVALID_STATE_TRANSITION}
  - start
  - advance: 50s
  - deliver: {A: [1, 2, 3, 4, 5, 6]}
  - advance: 10m
  - deliver: {A: [1, 2, 3, 4, 5, 6]}
  - advance: 10m
"""


@altered
def does_refused_work_again(parts: Parts) -> None:
    """Runs work once more under its lease when its result was refused."""
    give_up = parts.get("errors._give_up")

    def again(turn: Any, command: Any, error: Any) -> None:
        before, done = turn.item(command.work_item_id), notes(turn)
        give_up(turn, command, error)
        item = turn.item(command.work_item_id)
        if before.lease is not None and item.lease is None and "again" not in done:
            done["again"] = True
            turn.change(item, lease=before.lease, suspended=False)

    table = parts.module("errors").REACTIONS
    for code, reaction in table.items():
        table[code] = again if reaction is give_up else reaction


@altered
def runs_again_on_old_news(parts: Parts) -> None:
    """Runs work once more when an Event about it is delivered again."""
    is_repeated = parts.get("inbox._is_repeated")

    def and_again(turn: Any, event: Any, signing_hash: str) -> Any:
        repeated, done = is_repeated(turn, event, signing_hash), notes(turn)
        for run in list(turn.runtime.runs.values()) if repeated else ():
            if run.slot_id not in done:
                done[run.slot_id] = True
                parts.get("slots.move")(turn, run, "lease lost")
        return repeated

    parts.replace("inbox._is_repeated", and_again)


def seen_of(played: Any) -> tuple[int, int, Failure | None]:
    """How often work ran, and what MON-0011 saw."""
    runs = sum(entry.body.get("type") == "run" for entry in played.trace)
    seen = next(one for one in played.sightings if one.check_id == "MON-0011")
    return runs, seen.witness, seen.failure


def test_work_whose_result_was_refused_may_be_done_again(play) -> None:
    runs, witness, failure = seen_of(play(does_refused_work_again, load_text(SCENE, "refused")))
    assert runs == 2
    assert witness > 0
    assert failure is None


def test_old_news_starts_nothing_again(play) -> None:
    runs, _, failure = seen_of(play(runs_again_on_old_news, load_text(SCENE, "refused")))
    assert runs == 2
    assert failure is not None
