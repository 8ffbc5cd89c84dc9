"""Provenance: who was told what, so that it is known whose a text is.

Folds the stimuli of a Trace. A text belongs to the Groups whose stimuli carried it; what the Worker
said first, or what everybody is told, belongs to nobody. Never looks at what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.judge.privacy.disguises import (
    DIGESTS,
    KEY_BYTES,
    digest_keys,
    key_of,
    key_of_number,
    keys_in,
)
from worker_conformance.judge.privacy.routes import EVERYBODY, Homes, told_in
from worker_conformance.judge.privacy.spelling import Spelling

TEXTS_MAX = 40_000
"""Texts of which digests are kept in one Trace: far more than any scenario tells."""

DIGEST_HEAD = 2 * KEY_BYTES
"""Hexadecimal digits of a digest that tell it."""

TEXT_CHARACTERS_MIN = 16
"""Shorter texts are words that everybody uses."""

ENVELOPE = frozenset({"eventId", "signature", "actor", "acceptedBy", "cause", "correlationId"})
"""Members that say how a thing was told. Digests of them are not looked for."""

NUMBER_MIN = 10 ** (TEXT_CHARACTERS_MIN - 1)

_UNIQUE = re.compile(r"[0-9a-f]{16}|[0-9]{16}")
_DIGEST = re.compile(r"[0-9a-f]{32,}")


@frozen
class Derived:
    """A text that was given away by a digest of it, or as the digest that it is."""

    text: str
    owners: frozenset[str]
    how: str


@define
class Provenance:
    """What every Group alone was told, and the digests of it."""

    homes: Homes = field(factory=Homes)
    secrets: dict[str, str] = field(factory=dict)
    _owners: dict[str, set[str]] = field(factory=dict)
    _keys: dict[int, str] = field(factory=dict)
    _spoken: dict[str, set[str]] = field(factory=dict)
    _contracts: dict[str, JsonValue] = field(factory=dict)

    # --- what is told -----------------------------------------------------------------

    def told(self, stimulus: JsonObject) -> None:
        """Take in one stimulus."""
        self.homes.learn(stimulus)
        match stimulus.get("type"):
            case "start":
                self._tell(EVERYBODY, stimulus.get("agent"))
                organization = stimulus.get("organization")
                for name, value in (organization if isinstance(organization, dict) else {}).items():
                    # Policy names the Groups to the Scheduler, which is no Group.
                    self._tell(EVERYBODY, None if name == "policy" else value)
                for group in _list(stimulus.get("groups")):
                    self._tell(str(find(group, "groupId")), group)
            case "join":
                self._tell(str(find(stimulus, "group", "groupId")), stimulus.get("group"))
            case "frames":
                for frame in _list(stimulus.get("frames")):
                    self._frame(frame)
            case "snapshot":
                self._tell(str(find(stimulus, "snapshot", "groupId")), stimulus)
            case "token":
                self._token(stimulus)
            case "execution":
                self._tell(self.homes.of(str(stimulus.get("workItemId"))), stimulus)
            case _:
                pass

    def _frame(self, frame: JsonValue) -> None:
        body = told_in(frame)
        if body is not None:
            self._tell(text_at(body, "groupId"), self._news_of(body))

    def _news_of(self, body: JsonObject) -> JsonObject:
        """An Event without the contract that an earlier one told already: most of its length."""
        payload, item = body.get("payload"), find(body, "payload", "workItem")
        contract = find(item, "contract")
        if not isinstance(payload, dict) or not isinstance(item, dict):
            return body
        version = f"{item.get('workItemId')} {find(contract, 'contractVersion')}"
        if self._contracts.get(version) != contract:
            self._contracts[version] = contract
            return body
        return {**body, "payload": {**payload, "workItem": {**item, "contract": None}}}

    def _token(self, stimulus: JsonObject) -> None:
        group_id = self.homes.of(str(find(stimulus, "token", "workItemId")))
        secret = stimulus.get("secret")
        self._tell(group_id, stimulus)
        if isinstance(secret, str) and group_id is not None:
            self.secrets[secret] = group_id

    def _tell(self, group_id: str | None, value: JsonValue) -> None:
        if group_id is None:
            return
        for text in _texts(value):
            owners = self._owners.get(text)
            if owners is not None:
                owners.add(group_id)
            elif text not in self._spoken and _UNIQUE.search(text):
                self._owners[text] = {group_id}
                self._keep_digests(text)

    def _keep_digests(self, text: str) -> None:
        if len(self._owners) > TEXTS_MAX:
            return
        self._keys |= dict.fromkeys(digest_keys(text), text)
        for digest in _DIGEST.findall(text):
            self._keys[key_of(bytes.fromhex(digest[:DIGEST_HEAD]))] = text

    # --- what is said -----------------------------------------------------------------

    def is_known(self, group_id: str, text: str) -> bool:
        """Whether a Group was told this very text, before the Worker ever said it."""
        return not self._owners.get(text, set()).isdisjoint((group_id, EVERYBODY))

    def was_told(self, group_id: str, marker: str) -> bool:
        """Whether a Group was told a marker itself, in whatever text."""
        return any(
            marker in text and not owners.isdisjoint((group_id, EVERYBODY))
            for text, owners in self._owners.items()
        )

    def said(self, spelling: Spelling, group_id: str) -> Iterator[Derived]:
        """What a document gives away by digests; it is remembered as the Worker's own words.

        Only what is said to a Group for the first time is looked at: a text that was said before
        something was told cannot derive from it.
        """
        for text in spelling.values:
            if len(text) >= TEXT_CHARACTERS_MIN and self._is_news(text, group_id):
                yield from self._derived(keys_in(text), group_id)
        for number in spelling.numbers:
            key = key_of_number(number)
            if key is not None:
                yield from self._derived((key,), group_id)

    def _is_news(self, text: str, group_id: str) -> bool:
        receivers = self._spoken.setdefault(text, set())
        if group_id in receivers:
            return False
        receivers.add(group_id)
        return group_id not in self._owners.get(text, ())

    def _derived(self, keys: Iterable[int], group_id: str) -> Iterator[Derived]:
        for key in keys:
            text = self._keys.get(key)
            if text is None:
                continue
            owners = self._owners[text]
            if owners.isdisjoint((group_id, EVERYBODY)):
                names = zip(DIGESTS, digest_keys(text), strict=True)
                how = next((f"hashed with {name}" for name, k in names if k == key), "as it is")
                yield Derived(text, frozenset(owners), how)


def _texts(value: JsonValue) -> list[str]:
    """Every text in a value, and every number, that is long enough to be unique."""
    found: list[str] = []
    waiting: list[JsonValue] = [[value]]
    while waiting:
        one = waiting.pop()
        members: Iterable[JsonValue]
        if isinstance(one, dict):
            members = [inner for name, inner in one.items() if name not in ENVELOPE]
        else:
            members = cast("list[JsonValue]", one)
        for inner in members:
            if isinstance(inner, str):
                if len(inner) >= TEXT_CHARACTERS_MIN:
                    found.append(inner)
            elif isinstance(inner, dict | list):
                waiting.append(inner)
            elif isinstance(inner, int) and inner >= NUMBER_MIN:
                found.append(str(inner))
    return found


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
