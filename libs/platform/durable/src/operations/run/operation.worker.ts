import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { OPERATION_QUEUE, type OperationQueue } from '../../queue/index.js';
import { WakeableTask } from '../../scheduling/index.js';
import { OperationRunner, type LeasedOperation } from './operation.runner.js';
import { OutboxRelay } from './outbox.relay.js';
import { claimRequests, type ClaimRequest, type RunningOperation } from './worker-slots.js';

/**
 * Nest token: how often a worker polls without being woken, in milliseconds. With 0 it never polls, for tests that
 * decide when an operation runs.
 */
export const LOOK_EVERY_MS = Symbol('LOOK_EVERY_MS');
const DEFAULT_LOOK_EVERY_MS = 1_000;
/** Maximum wait at shutdown for running operations. Another worker takes over those that are cut off then. */
const DRAIN_MS = 10_000;

/**
 * Connects the parts of a worker process: relay → queue → claim → runner. A wake-up only says that an operation may be
 * due. The claim decides in Postgres which operations run, and in which order. So a lost wake-up costs a second, and an
 * operation that waits for a slot needs no wake-up.
 */
@Injectable()
export class OperationWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('operations');
  private readonly running = new Map<Promise<void>, RunningOperation>();
  private readonly claiming = new WakeableTask(() => this.claimAll(), {
    // Postgres is down. Due operations stay due.
    onError: (error) =>
      this.logger.warn(`could not claim operations: ${error instanceof Error ? error.message : String(error)}`),
  });
  /** Whether a due operation may have been left out because no slot was free. */
  private isShort = false;
  /**
   * The requests, by `scopeOf`, that have claimed everything due since the last wake-up, so they would now get nothing.
   * Each wake-up begins a new set.
   */
  private exhausted = new Set<string>();
  private stopping?: Promise<void>;
  private timer?: NodeJS.Timeout;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'worker'>,
    @Inject(OPERATION_QUEUE) private readonly queue: OperationQueue,
    private readonly runner: OperationRunner,
    private readonly relay: OutboxRelay,
    @Optional() @Inject(LOOK_EVERY_MS) private readonly lookEveryMs = DEFAULT_LOOK_EVERY_MS,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The queue may be down at boot. It connects by itself, and the relay retries. One wake-up at a time is enough:
    // claims run one after another anyway, and a wake-up that arrives during one is for another worker.
    void this.queue.consume(() => this.wake(), 1);
    if (this.lookEveryMs > 0) this.timer = setInterval(() => void this.wake(), this.lookEveryMs);
    await this.relay.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /**
   * Claims nothing more and waits for running operations, up to a limit. Call it before anything else is closed, while
   * leases are still renewed.
   */
  stop(): Promise<void> {
    this.stopping ??= this.drain();
    return this.stopping;
  }

  private wake(): Promise<void> {
    this.exhausted = new Set();
    return this.claiming.wake();
  }

  private async drain(): Promise<void> {
    const stopped = this.claiming.stop();
    clearInterval(this.timer);
    await this.relay.stop();
    await this.queue.close();
    await stopped;
    const drained = Promise.allSettled(this.running.keys());
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
  }

  /**
   * Claims until nothing is due or no slot is free. One claim fills the slots that become free in one iteration of the
   * event loop.
   */
  private async claimAll(): Promise<void> {
    while (!this.claiming.isStopped && (await this.claimOnce()));
  }

  /** @returns whether to claim again */
  private async claimOnce(): Promise<boolean> {
    const requests = claimRequests([...this.running.values()], this.config.worker.concurrency);
    const open = requests.at(-1);
    this.isShort = !open || open.outboundLimit === 0 || open.skip.length > 0 || open.skipOutbound.length > 0;
    for (const request of requests) {
      // A wake-up during the claim begins another set, so that what this claim did not see is requested again.
      const { exhausted } = this;
      const scope = scopeOf(request);
      if (exhausted.has(scope)) continue;
      const claimed = await this.runner.claim(request);
      for (const acquired of claimed) this.start(acquired);
      const outbound = claimed.filter((one) => this.runner.priorityOf(one) === 'outbound').length;
      const isFull = claimed.length === request.limit || (outbound > 0 && outbound === request.outboundLimit);
      if (!isFull) exhausted.add(scope);
      if (claimed.length > 0) return isFull || requests.length > 1;
    }
    return false;
  }

  private start(acquired: LeasedOperation): void {
    const run = this.runner
      .run(acquired)
      .catch((error: unknown) => {
        this.logger.error(error instanceof Error ? error.stack : String(error));
      })
      .finally(() => {
        this.running.delete(run);
        if (this.isShort) void this.claiming.wake();
      });
    this.running.set(run, { tenantId: acquired.operation.tenantId, priority: this.runner.priorityOf(acquired) });
  }
}

/** Identifies what a request may get, independent of its limits. */
function scopeOf({ priorities, skip, outboundLimit, skipOutbound }: ClaimRequest): string {
  return JSON.stringify([priorities, [...skip].sort(), outboundLimit > 0 && [...skipOutbound].sort()]);
}
