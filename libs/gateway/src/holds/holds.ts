import type { Log } from '../log.js';
import type { SnapshotRoute } from '../snapshot/snapshot.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import { HoldQueue, type HoldTerms } from './hold-queue.js';
import { HoldShares, type HoldBounds } from './hold-shares.js';
import { HoldStats } from './hold-stats.js';

/** What requests wait for: a deployment that is being replaced, or a revision that sleeps. */
interface HoldSubject {
  id: string;
  deploymentId: string;
  tenantId: string;
  terms: HoldTerms | null;
  /** What leads requests to the queue, so that those of all others pay for nothing. */
  leader: { queue: HoldQueue | null };
}

/** All queues of requests that wait, by what they wait for. */
export class Holds {
  private readonly queues = new Map<string, { queue: HoldQueue; leader: HoldSubject['leader'] }>();
  private readonly shares: HoldShares;
  private readonly stats = new HoldStats();

  constructor(
    bounds: HoldBounds,
    private readonly log: Log,
  ) {
    this.shares = new HoldShares(bounds);
  }

  /** A generation has come. One without a hold lets those go that wait. */
  onRoute(route: SnapshotRoute): void {
    const { deployment_id: id, tenant_id: tenantId, hold = null } = route;
    this.take({ id, deploymentId: id, tenantId, terms: hold, leader: route });
  }

  /** Those that wait are told so. */
  onRouteGone(deploymentId: string): void {
    this.queues.get(deploymentId)?.queue.letGo();
  }

  /** A revision has come, or another state of it. */
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
    return new HoldQueue({ deploymentId, ownerId }, this.shares, this.stats, () => {
      const over = this.queues.get(id);
      if (over) over.leader.queue = null;
      this.queues.delete(id);
    });
  }
}
