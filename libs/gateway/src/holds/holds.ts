import type { Log } from '../log.js';
import type { SnapshotRoute } from '../snapshot/snapshot.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import type { Clock } from '../postgres/database-clock.js';
import { HoldQueue, type HoldTerms } from './hold-queue.js';
import { HoldShares, type HoldBounds } from './hold-shares.js';
import { HoldStats } from './hold-stats.js';

/** The subject that requests wait for: a deployment that is being replaced, or a revision that sleeps. */
interface HoldSubject {
  id: string;
  deploymentId: string;
  tenantId: string;
  terms: HoldTerms | null;
  /** The object that leads requests to the queue, so that requests that need not wait have no lookup to pay for. */
  leader: { queue: HoldQueue | null };
}

/** All queues of waiting requests, by what they wait for. */
export class Holds {
  private readonly queues = new Map<string, { queue: HoldQueue; leader: HoldSubject['leader'] }>();
  private readonly shares: HoldShares;
  private readonly stats = new HoldStats();

  constructor(
    bounds: HoldBounds,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.shares = new HoldShares(bounds);
  }

  /** A new generation of a route was read. Without a hold, it releases the waiting requests. */
  onRoute(route: SnapshotRoute): void {
    const { deployment_id: id, tenant_id: tenantId, hold = null } = route;
    this.take({ id, deploymentId: id, tenantId, terms: hold, leader: route });
  }

  /** Releases the waiting requests: they find that the route is gone. */
  onRouteGone(deploymentId: string): void {
    this.queues.get(deploymentId)?.queue.letGo();
  }

  /** A revision is new or has changed. */
  onBackend(backend: UpstreamBackend): void {
    const { id, deploymentId, tenantId, asleep: terms } = backend.spec;
    if (deploymentId !== null) this.take({ id, deploymentId, tenantId, terms, leader: backend });
  }

  onBackendGone({ spec }: UpstreamBackend): void {
    this.queues.get(spec.id)?.queue.letGo();
  }

  refuseAll(): void {
    for (const { queue } of this.queues.values()) queue.refuseAll();
  }

  metrics(): string[] {
    return this.stats.lines(this.shares.requests);
  }

  private take(subject: HoldSubject): void {
    const { id, deploymentId, terms, leader } = subject;
    const known = this.queues.get(id);
    if (!known && !terms) return;
    const queue = known?.queue ?? this.open(subject);
    this.queues.set(id, { queue, leader });
    leader.queue = queue;
    const fields = { deployment_id: deploymentId, waits_for: id };
    if (terms) {
      if (!queue.isHolding) this.log.info({ ...fields, hold: terms }, 'holding the requests of a deployment');
      queue.hold(terms);
    } else if (queue.isHolding) {
      this.log.info({ ...fields, waiting: queue.size }, 'releasing the held requests of a deployment');
      queue.letGo();
    }
  }

  private open({ id, deploymentId, tenantId: ownerId }: HoldSubject): HoldQueue {
    const onOver = (): void => {
      const over = this.queues.get(id);
      if (over) over.leader.queue = null;
      this.queues.delete(id);
    };
    return new HoldQueue({ deploymentId, ownerId }, this.shares, this.stats, onOver, this.clock);
  }
}
