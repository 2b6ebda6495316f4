import type { Tx } from '@slipway/platform-database';
import { defineErrors } from '@slipway/platform-http';
import { operationErrors } from '@slipway/platform-operations';
import type { Deployment, DeploymentChange } from '@slipway/ports/deployment-records';
import type { SpecIssue, Workload, WorkloadStatus } from '@slipway/ports/instances';
import type { Route, RouteAffinity, RouteChange } from '@slipway/ports/routing';

const absent = defineErrors({ deployment_not_found: { status: 404, category: 'not_found', message: 'no deployment' } });

const SOFT: RouteAffinity = { mode: 'soft', ttlSeconds: 600 };
const READY: WorkloadStatus = { desired: 1, ready: 1, alive: 1, restarts: 0, message: null, baseUrls: [] };
const GONE: WorkloadStatus = { ...READY, desired: 0, ready: 0, alive: 0 };

/**
 * What the neighbours of this area would know, revisions apart, which are real. They live in memory and forget nothing when a transaction is rolled back, so
 * a test that provokes a roll-back looks at tables only.
 */
export class Neighbours {
  readonly deployments = new Map<string, Deployment>();
  readonly routes = new Map<string, Route>();
  /** Every change of a route, in order; null if it was taken away. */
  readonly routeChanges: (RouteChange | null)[] = [];
  readonly owners = new Map<string, string>();
  /** What the instances of a revision are doing; all are ready if a test says nothing. */
  readonly statuses = new Map<string, Partial<WorkloadStatus>>();
  /** Who holds a revision, with the seconds that are left. */
  readonly holds = new Map<string, Map<string, number | undefined>>();
  readonly inFlight = new Map<string, number>();
  /** Revisions whose instances are ready and do not answer. */
  readonly silent = new Set<string>();
  issues: SpecIssue[] = [];

  readonly deploymentsPort = {
    get: async (_tx: Tx, tenantId: string, name: string) => this.byName(tenantId, name),
    lock: async (_tx: Tx, tenantId: string, name: string) => this.byName(tenantId, name),
    lockById: async (_tx: Tx, id: string) => {
      const found = this.deployments.get(id);
      return found && { ...found };
    },
    update: async (_tx: Tx, id: string, change: DeploymentChange) => {
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      Object.assign(this.deployments.get(id) as Deployment, given);
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
    releaseTraffic: async (_tx: Tx, id: string, operationId: string) =>
      void (this.owners.get(id) === operationId && this.owners.delete(id)),
  };

  readonly instancesPort = {
    check: () => this.issues,
    want: async (_tx: Tx, { revisionId }: Workload, holder: string) =>
      void this.heldBy(revisionId).set(holder, undefined),
    hold: async (_tx: Tx, id: string, holder: string, forSeconds?: number) =>
      void this.heldBy(id).set(holder, forSeconds),
    release: async (_tx: Tx, id: string, holder: string) => void this.heldBy(id).delete(holder),
    status: async (_tx: Tx, id: string): Promise<WorkloadStatus | undefined> => {
      if (!this.holds.has(id)) return undefined;
      const found = this.heldBy(id).size > 0 || this.isRouted(id) ? READY : GONE;
      return { ...found, ...this.statuses.get(id) };
    },
    wakeOnChange: async () => undefined,
    probe: async (id: string) => {
      const asked = this.statuses.get(id)?.ready ?? 1;
      return { answered: this.silent.has(id) ? 0 : asked, asked };
    },
    inFlight: async (_tx: Tx, id: string) => this.inFlight.get(id) ?? 0,
  };

  heldBy(revisionId: string): Map<string, number | undefined> {
    const holds = this.holds.get(revisionId) ?? new Map<string, number | undefined>();
    this.holds.set(revisionId, holds);
    return holds;
  }

  addDeployment(id: string, name: string, tenantId: string, more: Partial<Deployment> = {}): Deployment {
    const deployment: Deployment = {
      id,
      tenantId,
      name,
      state: 'creating',
      defaultStrategy: null,
      revisionHistoryLimit: 10,
      activeRevisionId: null,
      candidateRevisionId: null,
      previousRevisionId: null,
      currentOperationId: null,
      version: 1,
      ...more,
    };
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
