import { networkOf } from './address-rate.js';

export interface AttemptBounds {
  /** Claimed identities in one group. */
  groupSize: number;
  /** Groups with a failed attempt that may start at once. */
  groups: number;
  /** After this time, one more such group may start. */
  intervalMs: number;
  /** Attempts under way. Beyond that, no group starts. */
  maxRunning: number;
  /** Attempts that may wait. Beyond that, the network with the most waiting attempts loses one. */
  maxWaiting: number;
}

/**
 * For credentials that are looked up in the database: guesses cost it up to twenty statements a second, or a hundred at
 * once.
 */
export const LOOK_UPS: AttemptBounds = {
  groupSize: 500,
  groups: 100,
  intervalMs: 50,
  maxRunning: 2_000,
  maxWaiting: 10_000,
};

/** An attempt to prove an identity. */
export interface CredentialAttempt {
  /** Address of the client. */
  address: string;
  /** The claimed identity: the id of a token or of a session, which may not exist. */
  claim: string;
}

interface WaitingAttempt {
  /** Resolves to whether the attempt succeeded. */
  begin(): Promise<boolean>;
  refuse(): void;
}

/** The waiting attempts of a network, and their number. */
interface WaitingNetwork {
  /** The oldest claim is first. */
  claims: Map<string, WaitingAttempt[]>;
  size: number;
}

/**
 * Lets attempts with unproven credentials through in groups, at a limited pace. Their look-ups share a statement if they
 * begin in the same turn of the event loop, so guesses cost the database at most one statement per group, however many
 * there are and however many addresses they come from. No attempt is refused for what others guessed.
 *
 * A group takes one claim of each network in turn, and all attempts with the same claim together. So neither guesses
 * from other addresses nor wrong secrets for the same id delay a correct secret by more than a group.
 * A group without a failed attempt does not count: honest clients never wait for the pace.
 */
export class AttemptQueue {
  /** By network. The next group begins with the first. */
  private readonly networks = new Map<string, WaitingNetwork>();
  private waiting = 0;
  private running = 0;
  private credits: number;
  private filledAt: number;
  private timer: NodeJS.Timeout | undefined;

  /** @param overload makes the error for attempts that cannot even wait, which is the case only if the database is slow */
  constructor(
    private readonly bounds: AttemptBounds,
    private readonly overload: () => Error,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.credits = bounds.groups;
    this.filledAt = now();
  }

  /** Runs the work when it is its turn. A rejection of the work counts as a failed attempt. */
  run<T>({ address, claim }: CredentialAttempt, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const network = networkOf(address);
      if (this.waiting >= this.bounds.maxWaiting && !this.makeSpace(network)) {
        reject(this.overload());
        return;
      }
      const begin = (): Promise<boolean> => {
        const result = work();
        resolve(result);
        return result.then(
          () => true,
          () => false,
        );
      };
      this.add(network, claim, { begin, refuse: () => reject(this.overload()) });
      this.startGroups();
    });
  }

  private add(network: string, claim: string, attempt: WaitingAttempt): void {
    const waiting = this.networks.get(network) ?? { claims: new Map<string, WaitingAttempt[]>(), size: 0 };
    this.networks.set(network, waiting);
    const attempts = waiting.claims.get(claim) ?? [];
    waiting.claims.set(claim, attempts);
    attempts.push(attempt);
    waiting.size += 1;
    this.waiting += 1;
  }

  private startGroups(): void {
    while (this.waiting > 0 && this.running < this.bounds.maxRunning && this.takeCredit()) void this.runGroup();
    clearTimeout(this.timer);
    this.timer = undefined;
    // A group that ends starts the next ones itself.
    if (this.waiting === 0 || this.running >= this.bounds.maxRunning) return;
    const waitMs = (1 - this.credits) * this.bounds.intervalMs;
    this.timer = setTimeout(() => this.startGroups(), Math.ceil(waitMs));
  }

  private async runGroup(): Promise<void> {
    const group = this.nextGroup();
    this.running += group.length;
    const ended = await Promise.all(group.map((attempt) => attempt.begin().finally(() => (this.running -= 1))));
    if (ended.every((hasSucceeded) => hasSucceeded)) this.credits = Math.min(this.bounds.groups, this.credits + 1);
    this.startGroups();
  }

  /** One claim of each network in turn, with all its attempts. */
  private nextGroup(): WaitingAttempt[] {
    const group: WaitingAttempt[] = [];
    for (let claims = 0; claims < this.bounds.groupSize; claims += 1) {
      const first = this.networks.entries().next().value;
      if (!first) break;
      const [network, waiting] = first;
      const [claim, attempts] = waiting.claims.entries().next().value as [string, WaitingAttempt[]];
      waiting.claims.delete(claim);
      waiting.size -= attempts.length;
      // Its turn comes again after all other networks.
      this.networks.delete(network);
      if (waiting.size > 0) this.networks.set(network, waiting);
      group.push(...attempts);
    }
    this.waiting -= group.length;
    return group;
  }

  private takeCredit(): boolean {
    const now = this.now();
    const inflow = Math.max(0, now - this.filledAt) / this.bounds.intervalMs;
    this.credits = Math.min(this.bounds.groups, this.credits + inflow);
    this.filledAt = now;
    if (this.credits < 1) return false;
    this.credits -= 1;
    return true;
  }

  /**
   * Refuses an attempt of the network with the most waiting ones.
   * @returns false if no network has more than the given one, whose next attempt cannot wait then
   */
  private makeSpace(network: string): boolean {
    let [name, largest] = this.networks.entries().next().value as [string, WaitingNetwork];
    for (const [other, waiting] of this.networks) if (waiting.size > largest.size) [name, largest] = [other, waiting];
    if (largest.size <= (this.networks.get(network)?.size ?? 0)) return false;
    const [claim, attempts] = largest.claims.entries().next().value as [string, WaitingAttempt[]];
    attempts.pop()?.refuse();
    if (attempts.length === 0) largest.claims.delete(claim);
    largest.size -= 1;
    if (largest.size === 0) this.networks.delete(name);
    this.waiting -= 1;
    return true;
  }
}
