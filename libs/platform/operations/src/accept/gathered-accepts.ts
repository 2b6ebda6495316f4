import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { requestContext, runInRequest, type IdempotencyClaim, type RequestContext } from '@slipway/platform-http';
import { isUnanswered, PATIENCE_MS, settledInTime } from '../patience.js';
import { AcceptBatch, type Accept } from './accept-batch.js';
import { OperationStore, type Claimed } from './operation.store.js';

/** Most requests of one transaction. */
const MOST = 16;

/** Transactions of one tenant at a time: while Postgres works on one, the next is made. */
const AT_A_TIME = 2;

export interface Asked<R> {
  tenantId: string;
  /** What it changes. Of two in one transaction one writes, and the other is asked again in the next. */
  resource: string;
  idempotency?: IdempotencyClaim;
  accept: Accept<R>;
}

interface Waiting extends Asked<unknown> {
  context: RequestContext;
  /** How many it had when it came: who goes again is not warned twice. */
  warnings: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What a tenant's requests wait for. */
interface Lane {
  waiting: Waiting[];
  /** What is written by transactions under way. Who wants the same waits for their end, so that no transaction holds up the other. */
  readonly taken: Set<string>;
  /** Transactions under way or about to be. */
  running: number;
  /** One of them is about to take who waits. */
  isCalled: boolean;
}

/** Leaves a transaction in which nobody has written: there is nothing to commit. */
class NothingWritten extends Error {}

/**
 * Requests that are accepted together: those that come up in one turn of the event loop, or while as many transactions of their tenant are under way as
 * may be, share the next one, in which each goes by its own rules, and what they ask by `tx.each` goes as one statement. No timer: one that
 * finds nobody goes at once.
 *
 * Only a refusal before the writes is one's own affair. Whatever else fails (a statement, a lock that is not given in time) rolls all back,
 * and each goes again in a transaction of its own, where it fails alone. So does whoever comes meanwhile for a resource that one of these
 * waits for: it has held up its neighbours once. Nobody is answered before the commit.
 */
@Injectable()
export class GatheredAccepts {
  /** By tenant, while somebody of it is being accepted. */
  private readonly lanes = new Map<string, Lane>();
  /** Resources of those that could not go with others and are under way alone, each as often as there are such. */
  private readonly alone: string[] = [];

  constructor(
    private readonly database: Database,
    private readonly operations: OperationStore,
  ) {}

  /** @throws what `accept` throws */
  add<R>(asked: Asked<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const context = requestContext();
      const { length: warnings } = context.warnings;
      this.enqueue({ ...asked, context, warnings, resolve: resolve as Waiting['resolve'], reject });
    });
  }

  /** In a transaction of its own, now; a dry run is rolled back. */
  single<R>(
    { tenantId, accept }: Pick<Asked<R>, 'tenantId' | 'accept'>,
    options: { dryRun?: boolean } = {},
  ): Promise<R> {
    const { operations } = this;
    return this.database.tx(
      { tenantId },
      (tx) =>
        accept(tx, {
          claim: async (claim) => (await operations.claim(tx, [claim]))[0] as Claimed,
          toWrite: async () => undefined,
        }),
      options,
    );
  }

  private enqueue(one: Waiting): void {
    if (this.alone.includes(resourceOf(one))) return void this.goAlone(one);
    const lane = this.lanes.get(one.tenantId) ?? { waiting: [], taken: new Set(), running: 0, isCalled: false };
    this.lanes.set(one.tenantId, lane);
    lane.waiting.push(one);
    if (lane.isCalled || lane.running === AT_A_TIME) return;
    lane.isCalled = true;
    lane.running += 1;
    // Behind everybody who came in this turn of the event loop.
    setImmediate(() => void this.acceptOn(one.tenantId, lane));
  }

  /** Rejections go to those who wait; this never rejects. */
  private async acceptOn(tenantId: string, lane: Lane): Promise<void> {
    lane.isCalled = false;
    for (let batch = take(lane); batch.length > 0; batch = take(lane)) {
      const resources = new Set(batch.map(({ resource }) => resource));
      resources.forEach((resource) => lane.taken.add(resource));
      await settledInTime(batch.length > 1 ? this.together(tenantId, batch) : this.answer(batch[0]!));
      resources.forEach((resource) => lane.taken.delete(resource));
    }
    lane.running -= 1;
    if (lane.running === 0) this.lanes.delete(tenantId);
  }

  private async together(tenantId: string, waiting: readonly Waiting[]): Promise<void> {
    const state = { mayStand: false };
    const batch = new AcceptBatch(this.operations, waiting);
    const failure = await this.database
      .tx(
        { tenantId },
        async (tx) => {
          if (!(await batch.run(tx))) throw new NothingWritten();
          state.mayStand = true;
        },
        { gathers: true, lockWithinMs: PATIENCE_MS },
      )
      .catch((error: unknown) => (error instanceof NothingWritten ? undefined : { error }));
    if (failure && !(state.mayStand && isUnanswered(failure.error)))
      return void (await Promise.all(waiting.map((one) => this.goAlone(again(one)))));
    // A commit that nobody has answered may stand, and who went again would be refused for what it did itself.
    if (failure) return waiting.forEach(({ reject }) => reject(failure.error));
    for (const [index, one] of waiting.entries()) {
      const end = batch.ends[index]!;
      if ('value' in end) one.resolve(end.value);
      else if (end.isPostponed) this.enqueue(again(one));
      else one.reject(end.error);
    }
  }

  private async goAlone(one: Waiting): Promise<void> {
    const resource = resourceOf(one);
    this.alone.push(resource);
    await this.answer(one);
    this.alone.splice(this.alone.indexOf(resource), 1);
  }

  /** Never rejects. */
  private answer(one: Waiting): Promise<void> {
    return runInRequest(one.context, () => this.single(one)).then(one.resolve, one.reject);
  }
}

/** The next of the lane. Of two with one Idempotency-Key the second waits, and then adopts what the first has made. */
function take(lane: Lane): Waiting[] {
  const batch: Waiting[] = [];
  const keys = new Set<string>();
  lane.waiting = lane.waiting.filter((one) => {
    if (lane.taken.has(one.resource)) return true;
    const key = one.idempotency && `${one.idempotency.path} ${one.idempotency.key}`;
    if (batch.length === MOST || (key !== undefined && keys.has(key))) return true;
    if (key !== undefined) keys.add(key);
    batch.push(one);
    return false;
  });
  return batch;
}

function again(one: Waiting): Waiting {
  one.context.warnings.length = one.warnings;
  return one;
}

function resourceOf({ tenantId, resource }: Waiting): string {
  return `${tenantId}/${resource}`;
}
