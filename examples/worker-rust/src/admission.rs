//! Which offers are accepted, and why others are not (MWP-WRK-005).

use crate::group_history::Tracked;
use crate::outbox::{Draft, Intent};
use crate::session::Session;
use crate::work_item::{Contract, Offer, State};
use serde_json::json;

const NEEDED_SCOPE: &str = "work.accept_offer";

impl Session {
    /// The offer that stands for this Worker now, if there is one (MWP-WRK-004).
    pub fn open_offer<'a>(&self, tracked: &'a Tracked) -> Option<&'a Offer> {
        let mut offers = tracked
            .item
            .offers
            .iter()
            .filter(|_| tracked.item.state == State::Offered);
        offers.find(|offer| {
            let is_ours = offer.is_pending && offer.agent_id == self.agent.id;
            is_ours && offer.expires_at.as_ref().is_some_and(|end| self.now < *end)
        })
    }

    /// Accepts or declines what is offered. Accepting commits to the work and starts nothing.
    pub fn answer_offers(&mut self) {
        for group in 0..self.groups.len() {
            for position in 0..self.groups[group].history.items.len() {
                self.answer_offer(group, position);
            }
        }
    }

    fn answer_offer(&mut self, group: usize, position: usize) {
        let tracked = &self.groups[group].history.items[position];
        let Some(offer) = self.open_offer(tracked) else {
            return;
        };
        if tracked.is_barred || self.groups[group].history.mission_is_over {
            return; // No part in what depends on an unknown critical extension (MWP-EXT-002).
        }
        let intent = Intent {
            kind: "work.accept_offer",
            work_item_id: tracked.item.id.clone(),
            key: offer.id.clone(),
        };
        if self.was_declined(&offer.id) || !self.may_send(group, &intent) {
            return;
        }
        match self.objection(group, tracked, offer) {
            None => self.send(Draft {
                payload: json!({"workItemId": intent.work_item_id, "offerId": intent.key}),
                group,
                intent,
                extensions: None,
            }),
            Some(reason) => {
                self.note_decline(&intent.key);
                let group_id = self.groups[group].id.clone();
                self.effect(json!({
                    "type": "decline",
                    "groupId": group_id,
                    "workItemId": intent.work_item_id,
                    "offerId": intent.key,
                    "reason": reason,
                }));
            }
        }
    }

    /// The structured reason why an offer cannot be kept.
    fn objection(&self, group: usize, tracked: &Tracked, offer: &Offer) -> Option<&'static str> {
        let known = &self.groups[group];
        let contract = &tracked.item.contract;
        let membership = known.history.membership.as_ref()?;
        let has_scope = membership.scopes.iter().any(|scope| scope == NEEDED_SCOPE);
        let depends_in_vain = contract.dependencies.iter().any(|id| {
            let dependency = known.history.tracked(id);
            dependency
                .is_some_and(|other| matches!(other.item.state, State::Failed | State::Cancelled))
        });
        let is_too_late = contract
            .deadline
            .as_ref()
            .is_none_or(|deadline| *deadline <= self.now);
        let card_version = self.agent.card_version.max(offer.card_version);
        if !tracked.item.is_whole {
            Some("other")
        } else if !has_scope || !tracked.item.authorization_eligible {
            Some("authorization")
        } else if !self.is_capable(contract)
            || !self.policy.is_compatible(offer.card_version, card_version)
        {
            Some("capability")
        } else if is_too_late {
            Some("deadline")
        } else if depends_in_vain {
            Some("dependency")
        } else if self.cannot_be_paid(&known.id, contract) {
            Some("budget")
        } else if self.is_full(group) {
            Some("capacity")
        } else {
            None
        }
    }

    /// Whether the Worker has every capability that the contract requires, and may use it now.
    pub fn is_capable(&self, contract: &Contract) -> bool {
        contract.required_capabilities.iter().all(|required| {
            let mut own = self.agent.capabilities.iter();
            own.any(|capability| capability.serves(required))
                && !self.policy.is_unavailable(&required.id)
        })
    }

    fn cannot_be_paid(&self, group_id: &str, contract: &Contract) -> bool {
        let has_outside_effects = matches!(
            contract.side_effect_risk.as_str(),
            "external" | "high_risk" | "destructive"
        );
        let no_effect_is_paid = contract.limit("externalSideEffectLimit") == Some(0.0);
        (has_outside_effects && no_effect_is_paid) || self.policy.is_spent(group_id, contract)
    }

    /// Whether the queues hold all that policy allows, of this Group's or of all.
    fn is_full(&self, group: usize) -> bool {
        let queued = |position: usize| {
            let items = self.groups[position].history.items.iter();
            let waiting = items.filter(|tracked| self.waits(tracked)).count();
            waiting
                + self
                    .outbox
                    .accepting()
                    .filter(|accepting| *accepting == position)
                    .count()
        };
        let of_all: usize = (0..self.groups.len()).map(queued).sum();
        of_all as u64 >= self.policy.queued_items_max()
            || queued(group) as u64 >= self.policy.queued_items_of_group_max()
    }

    /// Whether an item is accepted and neither runs nor has ended.
    fn waits(&self, tracked: &Tracked) -> bool {
        let is_ours = tracked.item.epoch_of(&self.agent.id).is_some();
        let is_open = matches!(
            tracked.item.state,
            State::Queued | State::Active | State::Blocked
        );
        is_ours && is_open && !self.is_in_a_slot(&tracked.item.id)
    }
}
