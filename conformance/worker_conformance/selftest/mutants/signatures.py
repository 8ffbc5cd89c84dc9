"""Faults of Signed Documents: believed too easily, refused too long, made wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from worker_conformance.documents import base64url, ed25519
from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.judge.reading import frames_in
from worker_conformance.selftest.copies import Parts, altered, notes
from worker_conformance.selftest.interposer import Interposer, says
from worker_conformance.selftest.mutants.base import mutant
from worker_conformance.selftest.speaker import with_frames


@altered
def signature_not_checked(parts: Parts) -> None:
    """Looks whether there is a signature and never computes it."""

    _willing(parts)


@altered
def any_registered_signer(parts: Parts) -> None:
    """Accepts an Event of anybody whose key is registered."""
    parts.replace("runtime.Runtime.may", lambda *_: True)


@altered
def lenient_json(parts: Parts) -> None:
    """Reads wire text as its JSON library does: last duplicate wins, bad bytes are replaced."""

    def loosely(raw: bytes) -> object:
        text = raw.decode("utf-8-sig", errors="replace")
        return json.JSONDecoder().raw_decode(text.lstrip())[0]

    parts.replace("documents.parse", loosely)


@altered
def numbers_made_to_fit(parts: Parts) -> None:
    """Reads a number beyond a double as the largest one, and half a surrogate as `?`."""

    def fitted(raw: bytes) -> object:
        text = raw.decode("utf-8", errors="replace")
        return _fitted(json.loads(text))

    parts.replace("documents.parse", fitted)
    _willing(parts)


def _fitted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _fitted(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_fitted(member) for member in value]
    if isinstance(value, float) and not isfinite(value):
        return 1e308
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@altered
def one_spelling_only(parts: Parts) -> None:
    """Believes only wire text that is canonical to the last byte."""
    parse, canonical = parts.get("documents.parse"), parts.get("documents.canonical")

    def exactly(raw: bytes) -> object:
        value = parse(raw)
        if canonical(value) != raw:
            raise parts.get("documents.DocumentError")("PROTOCOL_VIOLATION", "not canonical")
        return value

    parts.replace("documents.parse", exactly)


@altered
def time_binding_unchecked(parts: Parts) -> None:
    """Verifies a signature without comparing its time with the document's."""
    verify = parts.get("signatures.KeyRing._verify")

    def timeless(ring: Any, document: Any, protected_time: str, signer: Any) -> Any:
        del protected_time
        return verify(ring, document, document["signature"]["createdAt"], signer)

    parts.replace("signatures.KeyRing._verify", timeless)
    _willing(parts)


def _willing(parts: Parts) -> None:
    """Let every signature value hold: the fault lies in what was to be looked at before it."""

    class Willing:
        def verify(self, signature: bytes, message: bytes) -> None:
            del signature, message

    parts.replace("signatures._public_key", lambda _: Willing())


@altered
def signature_covers_its_envelope(parts: Parts) -> None:
    """Signs and verifies the document with its envelope, leaving out the value alone."""
    canonical = parts.get("documents.canonical")

    def with_envelope(document: Any) -> bytes:
        envelope = {n: m for n, m in document.get("signature", {}).items() if n != "value"}
        return bytes(canonical({**document, "signature": envelope}))

    parts.replace("documents.without_signature", with_envelope)


@altered
def schema_not_checked(parts: Parts) -> None:
    """Validates no frame that is well signed."""
    parts.module("inbox").is_valid = lambda *_: True


@altered
def keys_never_end(parts: Parts) -> None:
    """Ignores when a key's validity ends."""
    parts.replace("signatures.KeyBinding.is_valid_at", lambda *_: True)


def _also_takes(parts: Parts, lets_pass: Callable[[bytes], bool]) -> None:
    """Take besides for a public key what a part of the rule for them would refuse."""
    strict = parts.get("signatures.strict_public_key")

    def lenient(text: str) -> bytes:
        raw = base64url.decode(text)
        return raw if raw is not None and lets_pass(raw) else bytes(strict(text))

    parts.replace("signatures.strict_public_key", lenient)


def _refuses_besides(parts: Parts, refuses: Callable[[bytes], bool]) -> None:
    """Refuse public keys that the rule admits."""
    strict = parts.get("signatures.strict_public_key")

    def stricter(text: str) -> bytes:
        raw = bytes(strict(text))
        if refuses(raw):
            raise ValueError("not a key, it seems")
        return raw

    parts.replace("signatures.strict_public_key", stricter)


@altered
def identity_is_a_key(parts: Parts) -> None:
    """Tests the order of a public key alone, which the identity passes."""
    _also_takes(parts, lambda raw: ed25519.decode_point(raw) == ed25519.IDENTITY)


@altered
def reduces_what_it_decodes(parts: Parts) -> None:
    """Reduces y silently, and holds the encoding of the identity against the given one."""
    _also_takes(parts, lambda raw: int.from_bytes(raw, "little") == ed25519.FIELD_PRIME + 1)


@altered
def small_orders_listed(parts: Parts) -> None:
    """Refuses the points of small order by a list, and never multiplies by the group order."""

    def is_mixed(raw: bytes) -> bool:
        point = ed25519.decode_point(raw)
        return point is not None and not ed25519.is_identity(ed25519.multiply(8, point))

    _also_takes(parts, is_mixed)


@altered
def decodes_no_point(parts: Parts) -> None:
    """Takes 32 bytes for a key where it cannot decode them, as the library may be able to."""
    _also_takes(parts, lambda raw: len(raw) == 32 and ed25519.decode_point(raw) is None)


@altered
def weak_scalars_refused(parts: Parts) -> None:
    """Refuses the keys of the scalars 1 and L - 1, which anybody could guess."""
    _refuses_besides(parts, lambda raw: raw[:31] == b"\x58" + b"\x66" * 30)


@altered
def room_below_the_prime(parts: Parts) -> None:
    """Bounds y by a number somewhat below the prime."""
    bound = ed25519.FIELD_PRIME - 19
    _refuses_besides(parts, lambda raw: int.from_bytes(raw, "little") % (1 << 255) >= bound)


@altered
def zeros_lost_in_numbers(parts: Parts) -> None:
    """Turns keys into numbers and back, and loses the words that are zero at their end."""
    _refuses_besides(parts, lambda raw: not any(raw[-8:]))


class KeysReadOnce(Interposer):
    """Reads the registry at its start, and no change of it afterwards."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return None if stimulus["type"] == "keys" else stimulus


class AnyChangeOfKeysIsAnAlarm(Interposer):
    """Trusts no Event service any more once the registry has changed."""

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "keys":
            return stimulus
        authorized: Any = stimulus.get("authorized", {})
        return {**stimulus, "authorized": {**authorized, "eventAuthority": []}}


class OneBadTextClosesTheConnection(Interposer):
    """Reads nothing more after one frame that it could not read."""

    def _begin(self) -> None:
        self._is_closed = False

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        return None if stimulus["type"] == "frames" and self._is_closed else stimulus

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        self._is_closed = self._is_closed or effect["type"] == "reject"
        return (effect,)


class SeenBeforeVerified(Interposer):
    """Marks an Event ID as seen before it has verified the Event."""

    def _begin(self) -> None:
        super()._begin()
        self._seen: set[str] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        return with_frames(stimulus, [f for f in frames_in(stimulus) if self._is_new(f)])

    def _is_new(self, frame: JsonObject) -> bool:
        event_id = find(frame, "event", "eventId")
        is_new = not isinstance(event_id, str) or event_id not in self._seen
        self._seen.add(str(event_id))
        return is_new


class OneBadSignatureClosesTheGroup(Interposer):
    """Reads nothing more of a Group in which one Event was refused."""

    def _begin(self) -> None:
        super()._begin()
        self._closed: set[object] = set()

    def _given(self, stimulus: JsonObject) -> JsonObject | None:
        if stimulus["type"] != "frames":
            return stimulus
        frames = frames_in(stimulus)
        kept = [f for f in frames if find(f, "event", "groupId") not in self._closed]
        return with_frames(stimulus, kept)

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if effect["type"] == "reject" and "groupId" in effect:
            self._closed.add(text_at(effect, "groupId"))
        return (effect,)


class SignsBeforeItStamps(Interposer):
    """Changes a Command after it was signed: the payload is completed by another layer."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.start"):
            return (effect,)
        frame: Any = effect["frame"]
        payload = {**frame["command"]["payload"], "stampedAt": self.speaker.now}
        return (
            {**effect, "frame": {**frame, "command": {**frame["command"], "payload": payload}}},
        )


class CorrelationIsNoUri(Interposer):
    """Writes a bare word where the schema wants a URI."""

    def _done(self, effect: JsonObject) -> Iterable[JsonObject]:
        if not says(effect, "work.submit"):
            return (effect,)
        return (self.speaker.changed(effect, correlationId="submission"),)


# --- Approvals ----------------------------------------------------------------------------


@altered
def approvals_unverified(parts: Parts) -> None:
    """Takes the Approval's word for it, since the Event around it is signed."""

    def believed(turn: Any, approval: Any, item: Any) -> bool:
        approver = (approval["approver"]["type"], approval["approver"]["id"])
        named = approval["workItemId"] == item.work_item_id
        return named and bool(turn.runtime.may("approvers", approver))

    parts.replace("facts.is_genuine", believed)


@altered
def anybody_approves(parts: Parts) -> None:
    """Takes whoever has signed an Approval for an approver."""
    may = parts.get("runtime.Runtime.may")

    def allowed(runtime: Any, what: str, who: Any) -> bool:
        return what == "approvers" or bool(may(runtime, what, who))

    parts.replace("runtime.Runtime.may", allowed)


@altered
def every_decision_is_a_yes(parts: Parts) -> None:
    """Goes by the kind of the Event and does not read the decision."""
    absorb = parts.get("facts.absorb_approval")

    def agreed(turn: Any, item: Any, approval: Any, epoch: int, expires_at: int) -> None:
        absorb(turn, item, {**approval, "decision": "approved"}, epoch, expires_at)

    parts.replace("facts.absorb_approval", agreed)


@altered
def one_refusal_is_enough(parts: Parts) -> None:
    """Opens a gate no more once an Approval for it was false or a denial."""
    genuine = parts.get("facts.is_genuine")

    def unspoiled(turn: Any, approval: Any, item: Any) -> bool:
        good = bool(genuine(turn, approval, item)) and approval["decision"] == "approved"
        spoiled = notes(turn).setdefault("spoiled", set())
        if not good:
            spoiled.add(item.work_item_id)
        return good and item.work_item_id not in spoiled

    parts.replace("facts.is_genuine", unspoiled)


@altered
def approval_for_every_epoch(parts: Parts) -> None:
    """Keeps an Approval for the WorkItem, whoever owns it and since when."""
    absorb = parts.get("facts.absorb_approval")

    def for_now(turn: Any, item: Any, approval: Any, _epoch: int, expires_at: int) -> None:
        absorb(turn, item, approval, item.ownership.epoch if item.ownership else 0, expires_at)

    parts.replace("facts.absorb_approval", for_now)


@altered
def approval_of_any_later_epoch(parts: Parts) -> None:
    """Asks of an Approval that its Ownership Epoch is not older than the WorkItem's."""
    absorb = parts.get("facts.absorb_approval")

    def no_older(turn: Any, item: Any, approval: Any, epoch: int, expires_at: int) -> None:
        current = item.ownership.epoch if item.ownership else 0
        absorb(turn, item, approval, current if epoch >= current else epoch, expires_at)

    parts.replace("facts.absorb_approval", no_older)


@altered
def a_lease_is_approval_enough(parts: Parts) -> None:
    """Reads no Approval: asks for its start, and runs whatever it gets a lease for."""
    parts.replace("eligibility.is_gate_open", lambda *_: True)


@altered
def approval_has_to_be_newer(parts: Parts) -> None:
    """Asks of an Approval that its Ownership Epoch is above the WorkItem's."""
    absorb = parts.get("facts.absorb_approval")

    def newer(turn: Any, item: Any, approval: Any, epoch: int, expires_at: int) -> None:
        if epoch > (item.ownership.epoch if item.ownership else 0):
            absorb(turn, item, approval, epoch - 1, expires_at)

    parts.replace("facts.absorb_approval", newer)


@altered
def approval_for_the_first_epoch(parts: Parts) -> None:
    """Compares an Approval's Ownership Epoch with the first that the WorkItem ever had."""
    absorb = parts.get("facts.absorb_approval")

    def for_the_first(turn: Any, item: Any, approval: Any, epoch: int, expires_at: int) -> None:
        if epoch == 1:
            absorb(turn, item, approval, epoch, expires_at)

    parts.replace("facts.absorb_approval", for_the_first)


MUTANTS = (
    mutant(
        signature_not_checked,
        "SDV-015.a",
        "SIGN-0001 SIGN-0004 SIGN-0011 SIGN-0013",
        "A verifier that is mocked in development and never replaced.",
    ),
    mutant(
        any_registered_signer,
        "SDV-001.a",
        "SIGN-0003",
        "Authentication taken for authorization.",
    ),
    mutant(
        SeenBeforeVerified,
        "SDV-015.a",
        "SIGN-0002 SIGN-0004",
        "Deduplication placed in front of verification, because it is cheaper.",
    ),
    mutant(
        OneBadSignatureClosesTheGroup,
        "SDV-015.a",
        "SIGN-0002 SIGN-0004",
        "A security reflex: the channel is cut at the first bad message, and nobody reopens it.",
    ),
    mutant(
        SignsBeforeItStamps,
        "IDN-009.a",
        "MON-0003",
        "Middleware that enriches documents on their way out.",
        seen_in="LEASE-0002",
    ),
    mutant(
        CorrelationIsNoUri,
        "FND-004.a",
        "MON-0002",
        "A rarely sent kind of Command, built by hand.",
        seen_in="LEASE-0006",
    ),
    mutant(
        lenient_json,
        "EVT-012.a",
        "SIGN-0005",
        "The standard library's defaults.",
    ),
    mutant(
        one_spelling_only,
        "EVT-012.a",
        "SIGN-0006",
        "Canonical bytes demanded on the wire, where they are demanded under the signature.",
    ),
    mutant(
        numbers_made_to_fit,
        "EVT-012.a",
        "SIGN-0007",
        "Sanitizing instead of refusing.",
    ),
    mutant(
        OneBadTextClosesTheConnection,
        "EVT-012.b",
        "SIGN-0008 SIGN-0010 SIGN-0012 SIGN-0016",
        "A parser that cannot be used again after an error.",
    ),
    mutant(
        time_binding_unchecked,
        "SDV-002.a",
        "SIGN-0009",
        "The envelope's own time, because it stands beside the value.",
    ),
    mutant(
        signature_covers_its_envelope,
        "SDV-019.a",
        "SIGN-0014",
        "Another signature scheme's habit.",
    ),
    mutant(
        schema_not_checked,
        "FND-004.a",
        "SIGN-0015",
        "Validation is for drafts; signed documents have been validated by their signer.",
    ),
    mutant(
        keys_never_end,
        "SDV-014.a",
        "SIGN-0017",
        "A key store without time.",
    ),
    mutant(
        identity_is_a_key,
        "SDV-005.a",
        "SIGN-0070",
        "A test of the order that was thought to be the whole test.",
    ),
    mutant(
        weak_scalars_refused,
        "SDV-005.a",
        "SIGN-0071 SIGN-0075",
        "A list of weak keys, copied from another protocol.",
    ),
    mutant(
        reduces_what_it_decodes,
        "SDV-005.a",
        "SIGN-0072",
        "Field arithmetic that takes any number, and a comparison of bytes.",
    ),
    mutant(
        room_below_the_prime,
        "SDV-005.a",
        "SIGN-0073",
        "The bound of another curve's implementation.",
    ),
    mutant(
        small_orders_listed,
        "SDV-005.a",
        "SIGN-0074",
        "A list of eight points, which the clause names as not sufficient.",
    ),
    mutant(
        decodes_no_point,
        "SDV-005.a",
        "SIGN-0076",
        "An import that never fails, taken for a test.",
    ),
    mutant(
        zeros_lost_in_numbers,
        "SDV-005.a",
        "SIGN-0077",
        "Big integers of the language, and their shortest form as bytes.",
    ),
    mutant(
        KeysReadOnce,
        "SDV-014.a",
        "SIGN-0018 SIGN-0019 SIGN-0021",
        "Trust configured at deployment.",
    ),
    mutant(
        AnyChangeOfKeysIsAnAlarm,
        "ADM-014.a",
        "SIGN-0020 SIGN-0022",
        "An intrusion detector with too little to go by.",
    ),
    mutant(
        approvals_unverified,
        "SDV-015.b",
        "SIGN-0023",
        "A signature within a signed envelope, which seems to be one too many.",
    ),
    mutant(
        anybody_approves,
        "SDV-015.b",
        "SIGN-0025",
        "Authenticity taken for authority.",
    ),
    mutant(
        every_decision_is_a_yes,
        "SDV-015.b",
        "SIGN-0027",
        "A handler for each kind of Event, and the payload not looked into.",
    ),
    mutant(
        one_refusal_is_enough,
        "SDV-015.b",
        "SIGN-0024 SIGN-0026 SIGN-0028",
        "A state of rejection that was meant to be final.",
    ),
    mutant(
        approval_for_every_epoch,
        "SDV-015.b",
        "SIGN-0029",
        "Approvals kept by WorkItem alone.",
    ),
    mutant(
        approval_of_any_later_epoch,
        "SDV-015.b",
        "SIGN-0068",
        "An epoch compared as versions are, where equal was meant.",
    ),
    mutant(
        a_lease_is_approval_enough,
        "SDV-015.b",
        "SIGN-0027 SIGN-0029 SIGN-0068",
        "A gate that is the Authority's to keep, and no check of one's own.",
    ),
    mutant(
        approval_has_to_be_newer,
        "SDV-015.b",
        "SIGN-0030 SIGN-0069",
        "A comparison that is off by one at its edge.",
    ),
    mutant(
        approval_for_the_first_epoch,
        "SDV-015.b",
        "SIGN-0030",
        "An epoch that was 1 in every test.",
    ),
)
