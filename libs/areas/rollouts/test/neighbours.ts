import { newDeployment } from '@slipway/area-revisions/testing';
import type { PromisedTraits } from '@slipway/contracts';
import { startRules } from '@slipway/area-instances/testing';
import type { Tx } from '@slipway/platform-database';
import { defineErrors } from '@slipway/platform-http';
import { operationErrors } from '@slipway/platform-durable/operations';
import type { Deployment, DeploymentChange } from '@slipway/ports/deployment-records';
import type {
  WorkloadPreparation,
  CapacityForecast,
  CapacityRequest,
  RevisionSpecIssue,
  Takeover,
  Workload,
  WorkloadStatus,
} from '@slipway/ports/instances';
import { Members } from './members.js';
import type { Route, RouteAffinity, RouteChange } from '@slipway/ports/routing';

const absent = defineErrors({ deployment_not_found: { status: 404, category: 'not_found', message: 'no deployment' } });
const approvals = defineErrors({ self_approval: { status: 403, category: 'permission', message: 'your own' } });

const SOFT: RouteAffinity = { mode: 'soft', ttlSeconds: 600 };
const READY: WorkloadStatus = { desired: 1, ready: 1, alive: 1, restarts: 0, message: null, baseUrls: [] };
const TRAITS: Omit<PromisedTraits, 'readyTimeoutSeconds'> = {
  serves: ['chat'],
  unknownModel: 'unknown',
  identity: [],
  hasCacheSalt: false,
};
const GONE: WorkloadStatus = { ...READY, desired: 0, ready: 0, alive: 0 };

/**
 * Fakes of the areas next to this one, except revisions, which are real. They live in memory and undo nothing when a
 * transaction is rolled back. So a test that provokes a rollback of a transaction checks only tables.
 */
export class RolloutsNeighbours {
  readonly deployments = new Map<string, Deployment>();
  readonly routes = new Map<string, Route>();
  /** Every change of a route, in order; null if it was removed. */
  readonly routeChanges: (RouteChange | null)[] = [];
  readonly owners = new Map<string, string>();
  /** The status of the instances of a revision. By default all are ready. */
  readonly statuses = new Map<string, Partial<WorkloadStatus>>();
  /** The reasons to retain a revision, with the remaining seconds. */
  readonly holds = new Map<string, Map<string, number | undefined>>();
  /** Revisions that an operation has suspended, and the operation. */
  readonly suspended = new Map<string, string>();
  /** Revisions whose host was asked to prepare, in order, and its answers if not everything is there. */
  readonly asked: string[] = [];
  readonly preparations = new Map<string, WorkloadPreparation>();
  /** The capacity of the target. If undefined, the target does not report it. */
  capacity?: { total: number; others: number };
  /** The traffic that a retained revision takes over, and every request for a capacity forecast. */
  readonly takenOver = new Map<string, Takeover | undefined>();
  readonly capacityRequests: CapacityRequest[] = [];
  /** The number of instances that a revision starts with, if it is not the minimum of its spec. */
  replicas?: number;
  startSeconds: number | null = null;
  readonly members = new Members();
  readonly inFlight = new Map<string, number>();
  /** Revisions whose silent requests are not waited for, in order. */
  readonly abandoned: string[] = [];
  /** Revisions whose instances are ready but do not answer. */
  readonly silent = new Set<string>();
  /** The time that the engine's template allows for a start. */
  readyTimeoutSeconds: number | undefined;
  issues: RevisionSpecIssue[] = [];
  /** The tenants and specs or patches whose names were resolved. */
  readonly resolved: [tenantName: string, given: unknown][] = [];
  /** The answer of a server to adopt about its models. */
  examined: { issues: RevisionSpecIssue[]; message?: string } = { issues: [] };
  /** Running instances of the tenant, and how many are needed without those of one revision. */
  wanted = 0;
  needed: (exceptRevisionId?: string) => number = () => 0;

  readonly deploymentsPort = {
    get: async (_tx: Tx, tenantId: string, name: string) => this.byName(tenantId, name),
    lock: async (_tx: Tx, tenantId: string, name: string) => this.byName(tenantId, name),
    lockById: async (_tx: Tx, id: string) => {
      const found = this.deployments.get(id);
      return found && { ...found };
    },
    living: async (_tx: Tx, ids: readonly string[]) => ids.filter((id) => this.deployments.has(id)),
    update: async (_tx: Tx, id: string, change: DeploymentChange) => {
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      Object.assign(this.deployments.get(id) as Deployment, given);
    },
  };

  /** Whether the caller of a test may approve the step of a rollout. */
  mayApprove = true;

  /** Every plan is approved, and changes nothing in the request. */
  readonly plansPort = {
    rolloutOf: async () => ({}),
    assertExecutable: async () => undefined,
    assertMayApprove: async () => {
      if (!this.mayApprove) throw approvals.self_approval();
    },
  };

  readonly routesPort = {
    current: async (_tx: Tx, id: string) => this.routes.get(id),
    apply: async (_tx: Tx, change: RouteChange) => {
      const before = this.routes.get(change.deploymentId);
      const route = {
        deploymentId: change.deploymentId,
        generation: (before?.generation ?? 0) + 1,
        targets: change.targets,
        affinity: change.affinity ?? before?.affinity ?? SOFT,
        hold: change.hold
          ? { ...change.hold, since: before?.hold?.since ?? new Date().toISOString(), heldSeconds: 1.5 }
          : null,
      };
      this.routes.set(change.deploymentId, route);
      this.routeChanges.push(change);
      return route;
    },
    remove: async (_tx: Tx, id: string) => {
      this.routes.delete(id);
      this.routeChanges.push(null);
    },
    trafficOwner: async (_tx: Tx, id: string) => this.owners.get(id),
    takeTraffic: async (_tx: Tx, id: string, operationId: string) => {
      const owner = this.owners.get(id);
      if (owner !== undefined && owner !== operationId)
        throw operationErrors.operation_in_progress({ extra: { operation_id: owner } });
      this.owners.set(id, operationId);
    },
    passTraffic: async (_tx: Tx, id: string, from: string, to: string) =>
      void (this.owners.get(id) === from && this.owners.set(id, to)),
    releaseTraffic: async (_tx: Tx, id: string, operationId: string) => {
      if (this.owners.get(id) !== operationId) return;
      this.owners.delete(id);
      const route = this.routes.get(id);
      if (route?.hold) this.routes.set(id, { ...route, hold: null });
    },
  };

  readonly instancesPort = {
    ...startRules,
    resolveNames: async (tenantName: string, given: unknown) => void this.resolved.push([tenantName, given]),
    check: () => this.issues,
    examine: async () => this.examined,
    traits: (): PromisedTraits | undefined =>
      this.readyTimeoutSeconds === undefined ? undefined : { ...TRAITS, readyTimeoutSeconds: this.readyTimeoutSeconds },
    needed: async (_tx: Tx, _tenantId: string, except?: string) => this.needed(except),
    want: async (_tx: Tx, { revisionId, takesOver }: Workload, holder: string) => {
      this.takenOver.set(revisionId, takesOver);
      this.heldBy(revisionId).set(holder, undefined);
    },
    retain: async (_tx: Tx, id: string, holder: string, forSeconds?: number) =>
      void this.heldBy(id).set(holder, forSeconds),
    release: async (_tx: Tx, id: string, holder: string) => void this.heldBy(id).delete(holder),
    status: async (_tx: Tx, id: string): Promise<WorkloadStatus | undefined> => {
      if (!this.holds.has(id)) return undefined;
      const isHeld = this.heldBy(id).size > 0 || this.isRouted(id);
      const found = isHeld && !this.suspended.has(id) ? READY : GONE;
      return { ...found, ...this.statuses.get(id) };
    },
    /**
     * One instance for each running revision of the requesting deployment; `others` are those of all other deployments.
     */
    forecastCapacity: async (_tx: Tx, about: CapacityRequest): Promise<CapacityForecast> => {
      this.capacityRequests.push(about);
      const needed = this.replicas ?? about.spec.scaling?.min_replicas ?? 1;
      const { target } = about.spec.runtime;
      const common = { target, resource: 'place' as const, replicas: needed, needed, wanted: this.wanted };
      const routed = this.routes.get(about.deploymentId)?.targets ?? [];
      const own = routed.filter(({ revisionId }) => revisionId !== about.revisionId).length;
      if (!this.capacity) return { ...common, total: null, free: null, own };
      const { total, others } = this.capacity;
      return { ...common, total, free: Math.max(0, total - own - others), own };
    },
    startSeconds: async () => this.startSeconds,
    prepare: async (_tx: Tx, { revisionId }: { revisionId: string }) => void this.asked.push(revisionId),
    preparation: async (_tx: Tx, id: string) =>
      this.asked.includes(id)
        ? (this.preparations.get(id) ?? { state: 'ready' as const, progress: null, failure: null })
        : undefined,
    suspend: async (_tx: Tx, id: string, operationId: string) => void this.suspended.set(id, operationId),
    resumeWorkload: async (_tx: Tx, id: string) => void this.suspended.delete(id),
    wakeOnChange: async () => undefined,
    probe: async (id: string) => {
      const asked = this.statuses.get(id)?.ready ?? 1;
      return { answered: this.silent.has(id) ? 0 : asked, asked };
    },
    ...this.members.port,
    abandonSilentRequests: async (_tx: Tx, _tenant: string, id: string) => void this.abandoned.push(id),
    inFlight: async (_tx: Tx, id: string) => this.inFlight.get(id) ?? 0,
  };

  heldBy(revisionId: string): Map<string, number | undefined> {
    const holds = this.holds.get(revisionId) ?? new Map<string, number | undefined>();
    this.holds.set(revisionId, holds);
    return holds;
  }

  addDeployment(id: string, name: string, tenantId: string, more: Partial<Deployment> = {}): Deployment {
    const deployment = newDeployment({ id, name, tenantId, ...more });
    this.deployments.set(id, deployment);
    return deployment;
  }

  private isRouted(revisionId: string): boolean {
    return [...this.routes.values()].some(({ targets }) => targets.some((target) => target.revisionId === revisionId));
  }

  private byName(tenantId: string, name: string): Deployment {
    const found = [...this.deployments.values()].find((one) => one.tenantId === tenantId && one.name === name);
    if (!found) throw absent.deployment_not_found();
    return { ...found };
  }
}
