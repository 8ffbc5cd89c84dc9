// Which WorkItem next (PROTOCOL section 11.1): smooth weighted round robin over the Groups with
// normalised sums. Each decision shares one credit among the ready Groups by weight, the richest pays
// one. Priority classes double a Group's weight, rank by rank, up to eightfold; inside a Group the
// class decides, and whatever has waited for an hour goes first.

export const HORIZON_SECONDS = 3600;
const LARGEST_CLASS_RATIO = 8;

export class Scheduler {
  constructor() {
    this.credits = new Map();
  }

  /** Inside one Group: what waited too long, then the highest class, then the oldest. */
  static head(items, now) {
    const overdue = (item) => now - item.session.since >= HORIZON_SECONDS * 1000;
    const better = (a, b) => {
      if (overdue(a) !== overdue(b)) return overdue(a);
      if (!overdue(a) && a.session.rank !== b.session.rank) return a.session.rank > b.session.rank;
      return a.session.since !== b.session.since ? a.session.since < b.session.since : a.order < b.order;
    };
    return items.reduce((best, item) => (best && !better(item, best) ? best : item), undefined);
  }

  /** Chooses among ready Groups, given as [{groupId, weight, head}]. */
  choose(ready) {
    if (!ready.length) return undefined;
    const weights = ready.map(({ weight, head }) => weight * Math.min(2 ** head.session.rank, LARGEST_CLASS_RATIO));
    const sum = weights.reduce((a, b) => a + b, 0);
    const shares = new Map(ready.map(({ groupId }, i) => [groupId, weights[i] / sum]));
    let best;
    for (const { groupId, head } of ready) {
      const credit = (this.credits.get(groupId) ?? 0) + shares.get(groupId);
      if (!best || credit > best.credit + 1e-9) best = { groupId, head, credit };
    }
    this.charge(best.groupId, shares, 1);
    return { item: best.head, refund: () => this.charge(best.groupId, shares, -1) };
  }

  charge(groupId, shares, sign) {
    for (const [id, share] of shares) this.credits.set(id, (this.credits.get(id) ?? 0) + sign * share);
    this.credits.set(groupId, this.credits.get(groupId) - sign);
  }
}
