"""What two courses may differ in, and what they may not."""

from __future__ import annotations

from attrs import evolve

from worker_conformance.suite.properties.outcome import WorkEnd, compared, differences

DONE = WorkEnd("verified", ours=False, works=False, taken=True, declined=False, circumstances=())
LEFT = evolve(DONE, state="queued", ours=True)


def test_work_that_ended_otherwise_is_a_difference() -> None:
    (found,) = differences({"a1": DONE}, {"a1": LEFT})
    assert (found.work, str(found.wanted), str(found.seen)) == (
        "a1",
        "verified",
        "queued, owned by the Worker",
    )


def test_work_that_was_declined_in_one_course_is_not_compared() -> None:
    assert not differences({"a1": DONE}, {"a1": evolve(LEFT, declined=True)})


def test_work_whose_lease_ran_out_in_a_silent_time_is_not_compared() -> None:
    assert not differences({"a1": DONE}, {"a1": evolve(LEFT, state="active", lapsed=True)})


def test_work_that_waits_for_what_is_not_compared_is_not_compared_either() -> None:
    waiting = evolve(DONE, depends_on=("a1",))
    freed, left = {"a1": DONE, "a2": waiting}, evolve(LEFT, declined=True)
    assert not differences(freed, {"a1": left, "a2": evolve(LEFT, depends_on=("a1",))})
    assert differences(freed, {"a1": DONE, "a2": evolve(LEFT, depends_on=("a1",))})


def test_work_to_which_something_else_was_done_is_not_compared() -> None:
    cancelled = evolve(LEFT, circumstances=(("cancel", "queued", True),))
    later = evolve(DONE, circumstances=(("cancel", "submitted", True),))
    assert not compared({"a1": cancelled}, {"a1": later})


def test_work_that_the_worker_never_owned_counts_for_nothing() -> None:
    assert not compared({"a1": evolve(DONE, taken=False)}, {"a1": DONE})


def test_work_that_is_missing_in_one_course_is_not_compared() -> None:
    assert not compared({"a1": DONE}, {})
