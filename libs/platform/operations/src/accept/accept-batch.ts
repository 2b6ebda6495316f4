import type { Tx } from '@slipway/platform-database';
import { runInRequest, SlipwayError, type RequestContext } from '@slipway/platform-http';
import type { Claim, Claimed, OperationStore } from './operation.store.js';

/** What a request may do in the transaction that it may share with others. */
export interface Turn {
  /** First of all, once. */
  claim(claim: Claim): Promise<Claimed>;
  /**
   * Between the last rule and the first write: what is thrown before as a `SlipwayError` refuses this request alone and leaves no trace of
   * it, its claim included.
   */
  toWrite(): Promise<void>;
}

/** Reads, judges and writes one request; several run side by side on one `tx`. Every statement that it sends, it waits for. */
export type Accept<R> = (tx: Tx, turn: Turn) => Promise<R>;

interface Member {
  resource: string;
  context: RequestContext;
  accept: Accept<unknown>;
}

/** How it ended for one. Postponed: another one of the batch writes to its resource. */
export type End = { value: unknown } | { error: unknown; isPostponed: boolean };

class Postponed extends Error {}

/**
 * Requests in one transaction: judging → writing → ended. All claim, read and judge, side by side; when the last has come to its writes or
 * has ended, the claims of those that ended are taken back, and those that passed write. All judge what this transaction has locked
 * before any of them writes, so a refusal is the one that the request would have got had it come first.
 */
export class AcceptBatch {
  ends: End[] = [];
  private judging: number;
  private readonly claims = new Map<Member, string>();
  private readonly passed: { one: Member; write(): void; postpone(): void }[] = [];
  private takingBack?: Promise<void>;
  /** What was nobody's own. */
  private failure?: { error: unknown };

  constructor(
    private readonly operations: Pick<OperationStore, 'claim' | 'takeBack'>,
    private readonly members: readonly Member[],
  ) {
    this.judging = members.length;
  }

  /**
   * @returns whether anybody has written
   * @throws if nothing of this transaction may stand
   */
  async run(tx: Tx): Promise<boolean> {
    this.ends = await Promise.all(this.members.map((one) => this.runOne(tx, one)));
    await this.takingBack;
    if (this.failure) throw this.failure.error;
    return this.passed.length > 0;
  }

  private async runOne(tx: Tx, one: Member): Promise<End> {
    let isJudging = true;
    const judged = (): void => {
      if (!isJudging) return;
      isJudging = false;
      this.judging -= 1;
      if (this.judging === 0) this.letWrite(tx);
    };
    const toWrite = () =>
      new Promise<void>((write, reject) => {
        this.passed.push({ one, write, postpone: () => reject(new Postponed()) });
        judged();
      });
    try {
      return {
        value: await runInRequest(one.context, () => one.accept(tx, { claim: this.claimOf(tx, one), toWrite })),
      };
    } catch (error) {
      const isPostponed = error instanceof Postponed;
      if (!isPostponed && !(isJudging && error instanceof SlipwayError)) this.failure ??= { error };
      return { error, isPostponed };
    } finally {
      judged();
    }
  }

  private claimOf(tx: Tx, one: Member): Turn['claim'] {
    return async (claim) => {
      const [claimed] = (await this.operations.claim(tx, [claim])) as [Claimed];
      if (claimed.created) this.claims.set(one, claimed.id);
      return claimed;
    };
  }

  /** One for each resource, the first that came to it. */
  private letWrite(tx: Tx): void {
    const taken = new Set<string>();
    for (const { one, write, postpone } of this.passed) {
      if (this.failure || taken.has(one.resource)) postpone();
      else {
        taken.add(one.resource);
        this.claims.delete(one);
        write();
      }
    }
    if (taken.size === 0) return;
    this.takingBack = this.operations.takeBack(tx, [...this.claims.values()]);
    this.takingBack.catch(() => undefined);
  }
}
