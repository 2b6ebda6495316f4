import { exponential } from './random.js';

/*
 * Clients whose requests belong together. A session stays on its side, and a few sessions make most of the requests: a
 * fifth of them makes 57 %. Bad requests, failures and impatience come from a few sessions, too.
 */

export type Side = 'candidate' | 'baseline';

export interface Session {
  caller: number;
  side: Side;
  /** Its part of all requests, relative to other sessions. */
  weight: number;
  /** Requests in progress, and the most that it has. */
  inProgress: number;
  limit: number;
  /** Shares of its requests, 0 to 1. */
  refused: number;
  failing: number;
  /** Its client leaves before the first byte. */
  leaving: number;
}

const SESSIONS = 200;
/** Weights have a Pareto distribution, cut off. */
const ALPHA = 1.2;
const MAX_WEIGHT = 50;
const MEAN_WEIGHT = (ALPHA / (ALPHA - 1)) * (1 - MAX_WEIGHT ** (1 - ALPHA));
/** Average requests of a session, by its weight. */
const REQUESTS_PER_WEIGHT = 5;
/** A session that waits for this many seconds of its requests sends no more. */
const MAX_WAIT_SECONDS = 4;

/** Share of sessions that are special, the share of their requests that is, and the same of all other sessions. */
const TRAITS = {
  /** 5 % of all requests. */
  refused: { sessions: 0.04, theirs: 0.8, others: 0.01875 },
  /** 1 % of all requests. */
  failing: { sessions: 0.01, theirs: 0.5, others: 0.005 },
  /** 0.6 % of all requests. */
  leaving: { sessions: 0.03, theirs: 0.2, others: 0 },
};

/** The share of requests that the engine computes. */
export const COMPUTED = 1 - 0.05 - 0.006;

/** Draws the requests of sessions that come and go. */
export class Sessions {
  private readonly alive: Session[];
  private total = 0;

  constructor(
    private readonly random: () => number,
    private readonly options: { requestsPerSecond: number; candidateShare: number },
  ) {
    this.alive = Array.from({ length: SESSIONS }, () => this.begin());
  }

  /** The time until the next request, in milliseconds. */
  nextGapMs(): number {
    return exponential(this.random, 1_000 / this.options.requestsPerSecond);
  }

  /** The session of the next request. Undefined if all sessions of its side wait for answers. */
  next(): Session | undefined {
    const first = this.pick();
    if (!isWaiting(first)) return this.used(first);
    // Another one of the same side, so that a slow side does not send its requests to the other one.
    const free = this.alive.filter((one) => one.side === first.side && !isWaiting(one));
    let rest = this.random() * free.reduce((sum, { weight }) => sum + weight, 0);
    const other = free.find(({ weight }) => (rest -= weight) < 0);
    return other && this.used(other);
  }

  private pick(): Session {
    let rest = this.random() * this.total;
    return this.alive.find(({ weight }) => (rest -= weight) < 0) ?? this.alive.at(-1)!;
  }

  /** Any request may be its last one, so sessions of any age are alike. */
  private used(session: Session): Session {
    if (this.random() < 1 / (REQUESTS_PER_WEIGHT * session.weight)) {
      this.total -= session.weight;
      this.alive[this.alive.indexOf(session)] = this.begin();
    }
    return session;
  }

  private begin(): Session {
    const { random, options } = this;
    const weight = Math.min(MAX_WEIGHT, (1 - random()) ** (-1 / ALPHA));
    this.total += weight;
    const perSecond = (options.requestsPerSecond * weight) / (SESSIONS * MEAN_WEIGHT);
    const shareOf = ({ sessions, theirs, others }: (typeof TRAITS)['refused']): number =>
      random() < sessions ? theirs : others;
    return {
      caller: Math.floor(random() * 2 ** 32),
      side: random() < options.candidateShare ? 'candidate' : 'baseline',
      weight,
      inProgress: 0,
      limit: Math.max(1, Math.ceil(perSecond * MAX_WAIT_SECONDS)),
      refused: shareOf(TRAITS.refused),
      failing: shareOf(TRAITS.failing),
      leaving: shareOf(TRAITS.leaving),
    };
  }
}

function isWaiting({ inProgress, limit }: Session): boolean {
  return inProgress >= limit;
}
