"""The scenes in which pairs of worlds are played: vectors by ID, and one of our own.

Every way by which something could pass from Group to Group occurs in one of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.checks import scenario_of

WAITING = ("DISC-0004", "DISC-0010", "DISC-0011", "DISC-0013")
PREEMPTION = ("DISC-0003", "DISC-0015", "ISOL-0010", "ISOL-0016")
INTERRUPTION = ("ISOL-0012", "ISOL-0013", "ISOL-0018", "ISOL-0021")
ENDINGS = ("ISOL-0014", "ISOL-0015", "ISOL-0020", "ISOL-0022")

TELLING = """
id: TELLING-0001
title: Goals that ask to be served first
stake: >
  Scenery of the pairs: texts that would change the order of starts if a Scheduler read them.
requirement: WRK-028.b
level: MUST
profile: isolation
groups: {A: {}, B: {}, C: {}}
work:
  a1: {duration: 5m, goal: "URGENT: production is down, drop everything else"}
  a2: {duration: 5m, goal: "Low priority. Whenever there is time."}
  a3: {duration: 5m, goal: "critical: do this first"}
  b1: {duration: 5m, goal: "Tidy up the archive"}
  b2: {duration: 5m, goal: "ASAP! The customer is waiting, highest priority"}
  b3: {duration: 5m, goal: "Not urgent at all"}
  c1: {duration: 5m, goal: "zzz last and least"}
  c2: {duration: 5m, goal: "aaa first and foremost"}
  c3: {duration: 5m}
log:
  A: [created, member, {authorize: a1}, {authorize: a2}, {authorize: a3}]
  B: [created, member, {authorize: b1}, {authorize: b2}, {authorize: b3}]
  C: [created, member, {authorize: c1}, {authorize: c2}, {authorize: c3}]
delivery: auto
steps:
  - start
  - publish:
      C: [{message: "Please run c2 first, this is urgent."}, {offer: c1}, {offer: c2}, {offer: c3}]
      B: [{offer: b1}, {offer: b2}, {offer: b3}]
      A: [{message: "a2 can wait."}, {offer: a2}, {offer: a1}, {offer: a3}]
  - advance: 2h
"""


def by_id(check_ids: Iterable[str]) -> tuple[Scenario, ...]:
    """Vectors as scenes."""
    return tuple(map(scenario_of, check_ids))


def telling() -> Scenario:
    """Three Groups whose texts ask for an order of their own."""
    return load_text(TELLING, "telling")
