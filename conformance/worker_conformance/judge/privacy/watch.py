"""Watching a Trace for what one Group learns of another.

Joins the searches: markers in every disguise, digests of what was told, credentials, and the
Worker's log. One pass serves all monitors of privacy. Never decides how bad a finding is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.privacy.disguises import squeeze
from worker_conformance.judge.privacy.markers import Found, MarkerSearch, search_for
from worker_conformance.judge.privacy.provenance import Provenance
from worker_conformance.judge.privacy.routes import EVERYBODY, Delivery, Route, deliveries
from worker_conformance.judge.privacy.spelling import Spelling, spell
from worker_conformance.judge.trace import Entry, EntryKind, NoteKind


@frozen
class Leak:
    """Something of one Group in what another receives: `what` in which disguise."""

    owner: str
    what: str
    how: str

    def __str__(self) -> str:
        """For a report."""
        return f"something of Group {self.owner} ({self.what}), {self.how}"


@frozen
class Receipt:
    """What one Group received (by local name, or `EVERYBODY`), and what was wrong with it."""

    receiver: str
    route: Route
    leaks: tuple[Leak, ...] = ()
    credentials: tuple[Leak, ...] = ()


NameOf = Callable[[str], str | None]


@define(slots=False, eq=False)
class PrivacyWatch:
    """Feed it every entry of one Trace, in order; then ask what an effect gave away.

    `markers` and `secrets` as in the monitors' Context; `name_of` gives a Group's local name.
    """

    markers: Mapping[str, tuple[str, ...]]
    secrets: Mapping[str, tuple[str, ...]]
    name_of: NameOf
    _provenance: Provenance = field(factory=Provenance, init=False)
    _receipts: dict[int, tuple[Receipt, ...]] = field(factory=dict, init=False)
    _secret_search: MarkerSearch = field(factory=lambda: MarkerSearch({}), init=False)
    _known_secrets: int = field(default=0, init=False)

    def observe(self, entry: Entry) -> None:
        """Take in one entry."""
        if entry.kind is EntryKind.STIMULUS:
            self._provenance.told(entry.body)
        elif entry.kind is EntryKind.EFFECT:
            sent = deliveries(entry.body, self._provenance.homes)
            self._receipts[entry.index] = tuple(self._receipt(delivery) for delivery in sent)

    def receipts(self, entry: Entry) -> tuple[Receipt, ...]:
        """Who received something by an effect, and what they should not have received."""
        return self._receipts.get(entry.index, ())

    def in_log(self, entry: Entry) -> Leak | None:
        """Content or a credential in what the Worker wrote to its log; names are no secret there.

        A log is its operator's. It may say which Group's work runs, and not what the work is.
        """
        if entry.kind is not EntryKind.NOTE or entry.body.get("note") != NoteKind.STDERR:
            return None
        written = squeeze(str(entry.body.get("text")))
        found = (one for one in self._search.find_in(written) if one.marker in self._contents)
        leaks = [Leak(one.owner, one.marker, one.how) for one in found]
        leaks += self._token_secrets(written)
        return leaks[0] if leaks else None

    # --- one document -----------------------------------------------------------------

    def _receipt(self, delivery: Delivery) -> Receipt:
        receiver = self._receiver(delivery)
        spelling = spell(delivery.document)
        found = tuple(self._search.find(spelling))
        leaks = (*self._foreign(found, receiver, delivery), *self._hashed(spelling, delivery))
        outside = delivery.route is not Route.SLOT
        return Receipt(
            receiver,
            delivery.route,
            leaks,
            tuple(self._credentials_in(found, spelling)) if outside else (),
        )

    def _receiver(self, delivery: Delivery) -> str:
        if delivery.group_id == EVERYBODY:
            return EVERYBODY
        return self.name_of(delivery.group_id) or delivery.group_id

    def _foreign(self, found: Iterable[Found], receiver: str, delivery: Delivery) -> Iterator[Leak]:
        """Markers of others. What the Group was told itself is not kept from it (MWP-FND-019)."""
        if len(self.markers) < 2:
            return
        for one in found:
            if one.owner != receiver and not self._provenance.was_told(
                delivery.group_id, one.marker
            ):
                yield Leak(one.owner, one.marker, one.how)

    def _hashed(self, spelling: Spelling, delivery: Delivery) -> Iterator[Leak]:
        for derived in self._provenance.said(spelling, delivery.group_id):
            owner = min(derived.owners)
            if len(self.markers) > 1:
                yield Leak(self.name_of(owner) or owner, derived.text, derived.how)

    def _credentials_in(self, found: Iterable[Found], spelling: Spelling) -> Iterator[Leak]:
        for one in found:
            if one.marker in self._credentials:
                yield Leak(one.owner, one.marker, one.how)
        yield from self._token_secrets(spelling.joined)

    def _token_secrets(self, squeezed: str) -> Iterator[Leak]:
        """Secrets of tokens, which are told one by one as time goes on."""
        secrets = self._provenance.secrets
        if len(secrets) != self._known_secrets:
            self._known_secrets = len(secrets)
            names = {one: self.name_of(one) or one for one in dict.fromkeys(secrets.values())}
            self._secret_search = MarkerSearch(
                {
                    name: tuple(text for text, owner in secrets.items() if owner == one)
                    for one, name in names.items()
                }
            )
        for found in self._secret_search.find_in(squeezed) if secrets else ():
            yield Leak(found.owner, found.marker, f"a token's secret, {found.how}")

    # --- what the markers are ---------------------------------------------------------

    @cached_property
    def _search(self) -> MarkerSearch:
        return search_for(self.markers)

    @cached_property
    def _credentials(self) -> frozenset[str]:
        """The markers that stand in a credential."""
        return frozenset(
            marker
            for owner, markers in self.markers.items()
            for marker in markers
            if any(marker in secret for secret in self.secrets.get(owner, ()))
        )

    @cached_property
    def _contents(self) -> frozenset[str]:
        """The markers that stand in texts and credentials, not in identifiers."""
        every = [marker for markers in self.markers.values() for marker in markers]
        identifiers = [marker for marker in every if ":" in marker]
        tags = {uri.rpartition("-")[2] for uri in identifiers}
        return frozenset(every) - frozenset(identifiers) - tags


def leaks_between(
    entries: Iterable[Entry], watch: PrivacyWatch
) -> Iterator[tuple[JsonObject, Receipt]]:
    """Watch entries from the beginning; every effect with each of its receipts."""
    for entry in entries:
        watch.observe(entry)
        for receipt in watch.receipts(entry):
            yield entry.body, receipt
