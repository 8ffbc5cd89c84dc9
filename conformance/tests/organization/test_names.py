"""Identifiers, canaries and keys: fresh for each seed, equal for equal seeds, apart by Group."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

from worker_conformance.documents.canonical import canonical
from worker_conformance.documents.schemas import protocol_schemas
from worker_conformance.organization.names import Names
from worker_conformance.organization.organization import Organization
from worker_conformance.scenario.model import ActKind, GroupPlan, WorkPlan


def test_the_same_seed_makes_the_same_world(open_desk) -> None:
    worlds = [open_desk(seed=5) for _ in range(2)]
    for desk in worlds:
        desk.reach("verified")
        desk.act(ActKind.MESSAGE)
    assert worlds[0].group.events == worlds[1].group.events
    assert worlds[0].start == worlds[1].start
    assert worlds[0].group.snapshot(0) == worlds[1].group.snapshot(0)


def test_another_seed_shares_no_identifier_and_no_secret(open_desk) -> None:
    first, second = (open_desk(seed=seed).organization for seed in (1, 2))
    markers = [
        {text for many in one.markers().values() for text in many} for one in (first, second)
    ]
    assert not markers[0] & markers[1]
    keys = [{entry["publicKey"] for entry in one.organization()["keys"]} for one in (first, second)]
    assert not keys[0] & keys[1]


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import Desk
from worker_conformance.documents.canonical import sha256_of
desk = Desk()
desk.reach("submitted")
markers = {name: list(many) for name, many in desk.organization.markers().items()}
print(sha256_of([list(desk.group.events), desk.start, markers]))
"""


def test_hash_seed_and_time_zone_change_nothing() -> None:
    here = str(Path(__file__).parent)
    printed = set()
    for hash_seed, zone in (("0", "UTC"), ("7", "Asia/Kathmandu")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone}
        command = [sys.executable, "-c", SCRIPT, here]
        done = subprocess.run(  # noqa: S603 - this very interpreter on a constant script
            command, env=environment, capture_output=True, check=True
        )
        printed.add(done.stdout)
    assert len(printed) == 1


def test_identifiers_are_protocol_identifiers() -> None:
    names = Names(3)
    validator = protocol_schemas().validator("common#/$defs/id")
    for local in ("A", "a1", "Group_7", "ä ß", "-"):
        for uri in (
            names.group_id(local),
            names.work_id(f"{local}x", local),
            names.numbered("event", local, local, 7),
        ):
            assert validator.is_valid(uri), uri
            assert len(uri) < 200


def test_local_names_are_found_by_uri() -> None:
    names = Names(3)
    assert names.name_of(names.group_id("A")) == "A"
    assert names.name_of(names.work_id("a1", "A")) == "a1"
    assert names.name_of("urn:x") is None


def test_markers_belong_to_one_group_alone(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("b1", "B"), WorkPlan("A", "B"))
    markers = desk.organization.markers()
    assert all(len(text) >= 12 for many in markers.values() for text in many)
    for one, other in itertools.permutations(markers.values(), 2):
        assert not any(mark in text for mark in one for text in other)


def test_everything_a_group_says_carries_one_of_its_markers_only(open_desk) -> None:
    desk = open_desk(WorkPlan("a1", "A"), WorkPlan("b1", "B"))
    desk.reach("verified")
    desk.act(ActKind.MESSAGE, text="hello")
    markers = desk.organization.markers()
    for event in desk.group.events:
        text = canonical(event).decode()
        assert any(mark in text for mark in markers["A"])
        assert not any(mark in text for mark in markers["B"])


def test_secrets_are_markers_too(open_desk) -> None:
    organization = open_desk().organization
    for name, secrets in organization.secrets().items():
        entry = organization.group_entry(name)
        assert set(entry["credentials"].values()) == set(secrets)
        assert all(
            any(mark in secret for mark in organization.markers()[name]) for secret in secrets
        )


def test_a_variant_of_one_group_keeps_the_length_and_order_of_all_identifiers(open_desk) -> None:
    scenario = open_desk(WorkPlan("a1", "A"), WorkPlan("b1", "B"), WorkPlan("b10", "B")).scenario
    plain, varied = Organization(scenario, 1), Organization(scenario, 1, Names(1, {"B": 1}))
    ours, theirs = plain.markers(), varied.markers()
    assert ours["A"] == theirs["A"]
    budgets = {str(plain.names.budget_canary(work)) for work in ("b1", "b10")}
    assert set(ours["B"]) & set(theirs["B"]) == budgets
    assert [len(text) for text in ours["B"]] == [len(text) for text in theirs["B"]]
    uris = [sorted((uri, name) for name, uri in one.work_ids().items()) for one in (plain, varied)]
    assert [name for _, name in uris[0]] == [name for _, name in uris[1]]


def test_a_group_may_be_named_like_a_work_item() -> None:
    names = Names(1)
    assert names.tag("group", "A", "A") != names.tag("work", "A", "B")
    assert names.group_id(GroupPlan("A").name) != names.work_id("A", "B")


def test_other_contents_keep_every_identifier(open_desk) -> None:
    scenario = open_desk(WorkPlan("a1", "A"), WorkPlan("b1", "B")).scenario
    plain, varied = Organization(scenario, 1), Organization(scenario, 1, Names(1, {}, {"B": 1}))
    assert plain.work_ids() == varied.work_ids()
    assert plain.secrets()["A"] == varied.secrets()["A"]
    assert plain.secrets()["B"] != varied.secrets()["B"]
