/*
 * Tests of shares that may be read after every second. Each keeps the evidence against "the candidate is not worse" as
 * an e-value: a product whose expectation is at most 1 as long as that is true. By Ville's inequality it exceeds 1/a at
 * any time of an endless sequence with a chance of at most a. So the number of looks need not be
 * known in advance, and no number of samples is required. The tests are exact for independent requests (Turner, Ly and Grünwald, "Generic
 * E-variables for exact sequential k-sample tests"); the caller handles requests that depend on each other.
 */

/** Events among requests. */
export interface ShareCounts {
  events: number;
  of: number;
}

/** Evidence from all counts so far. It is JSON, so that a step can keep it. */
export interface SequentialEvidence {
  /** Natural logarithm of the e-value. */
  log: number;
  /** All counts so far, from which the next second is predicted. */
  candidate: ShareCounts;
  stable: ShareCounts;
}

/** Added to the events and to the other requests before a prediction (Turner, Ly and Grünwald recommend it). */
const PRIOR = 0.18;

export const NO_EVIDENCE: SequentialEvidence = {
  log: 0,
  candidate: { events: 0, of: 0 },
  stable: { events: 0, of: 0 },
};

/** Returns the e-value, as a logarithm, from which on a test with this chance of a false alarm finds a difference. */
export function evidenceNeeded(falseAlarms: number): number {
  return Math.log(1 / falseAlarms);
}

/**
 * Adds the counts of both revisions in the same time. The evidence is against "the share of the candidate is at most that
 * of the stable revision". Time in which only one of them had requests is no evidence.
 */
export function compareShares(
  evidence: SequentialEvidence,
  candidate: ShareCounts,
  stable: ShareCounts,
): SequentialEvidence {
  const [ours, theirs] = [predicted(evidence.candidate), predicted(evidence.stable)];
  const common = (candidate.of * ours + stable.of * theirs) / (candidate.of + stable.of);
  const isEvidence = candidate.of > 0 && stable.of > 0 && ours > theirs;
  const log = isEvidence ? likelihoodRatio(candidate, ours, common) + likelihoodRatio(stable, theirs, common) : 0;
  return {
    log: evidence.log + log,
    candidate: added(evidence.candidate, candidate),
    stable: added(evidence.stable, stable),
  };
}

/** Adds the counts of the candidate. The evidence is against "its share is at most the limit". */
export function compareWithLimit(
  evidence: SequentialEvidence,
  candidate: ShareCounts,
  limit: number,
): SequentialEvidence {
  const ours = predicted(evidence.candidate);
  const isEvidence = candidate.of > 0 && ours > limit;
  // No event is expected at all with a limit of 0, so the first one is proof.
  const log = isEvidence
    ? limit > 0
      ? likelihoodRatio(candidate, ours, limit)
      : candidate.events > 0
        ? Infinity
        : 0
    : 0;
  return { ...evidence, log: Math.min(evidence.log + log, MAX_LOG), candidate: added(evidence.candidate, candidate) };
}

/** JSON has no Infinity. */
const MAX_LOG = 1e6;

/**
 * Returns the highest share that fits earlier counts: with this chance at most, the true share is above it (Chernoff). 1
 * without requests.
 */
export function highestShare({ events, of }: ShareCounts, chance: number): number {
  if (of === 0) return 1;
  const observed = events / of;
  const most = Math.log(1 / chance) / of;
  let [low, high] = [observed, 1];
  for (let round = 0; round < 50; round += 1) {
    const middle = (low + high) / 2;
    if (divergence(observed, middle) > most) high = middle;
    else low = middle;
  }
  return high;
}

/** Kullback–Leibler divergence of two Bernoulli distributions. */
function divergence(p: number, q: number): number {
  const part = (a: number, b: number): number => (a === 0 ? 0 : a * Math.log(a / b));
  return part(p, q) + part(1 - p, 1 - q);
}

function predicted({ events, of }: ShareCounts): number {
  return (events + PRIOR) / (of + 2 * PRIOR);
}

function likelihoodRatio({ events, of }: ShareCounts, share: number, other: number): number {
  return events * Math.log(share / other) + (of - events) * Math.log((1 - share) / (1 - other));
}

function added(a: ShareCounts, b: ShareCounts): ShareCounts {
  return { events: a.events + b.events, of: a.of + b.of };
}
