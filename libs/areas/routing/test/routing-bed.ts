import { migrations as dataplane } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { defineErrors } from '@slipway/platform-http';
import { AreaBed, type AreaApplication } from '@slipway/platform-durable/operations/testing';
import { DEPLOYMENTS, type Deployment } from '@slipway/ports/deployment-records';
import { INSTANCES } from '@slipway/ports/instances';
import { REVISIONS, type Activation, type Revision } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import type { RevisionState } from '@slipway/contracts';
import { migrations, RoutingModule } from '../src/index.js';

const absent = defineErrors({
  deployment_not_found: { status: 404, category: 'not_found', message: 'no deployment' },
  revision_not_found: { status: 404, category: 'not_found', message: 'no revision' },
});

/** Fakes of the areas next to this one. The lock of a deployment is real. */
export class RoutingNeighbours {
  readonly deployments = new Map<string, Deployment>();
  readonly revisions = new Map<string, Revision>();
  readonly ready = new Map<string, number>();
  /** Revisions that sleep. */
  readonly asleep = new Set<string>();
  readonly holds = new Map<string, Set<string>>();
  readonly activations: Activation[] = [];
  /** Runs when a revision is retained: until then, a reconciler that is stopping the revision has its row locked. */
  onHold?: (revisionId: string) => void;

  readonly deploymentsPort = {
    idOf: async (tenantId: string, name: string) => this.find(tenantId, name).id,
    get: async (_tx: Tx, tenantId: string, name: string) => this.find(tenantId, name),
    lock: async (tx: Tx, tenantId: string, name: string) => {
      const found = this.find(tenantId, name);
      await tx.query('select pg_advisory_xact_lock(hashtext($1))', [found.id]);
      return this.find(tenantId, name);
    },
    lockById: async (_tx: Tx, id: string) => [...this.deployments.values()].find((one) => one.id === id),
  };

  readonly revisionsPort = {
    find: async (_tx: Tx, deploymentId: string, reference: string) => {
      const found = [...this.revisions.values()].find(
        (one) => one.deploymentId === deploymentId && [one.id, one.name, String(one.number)].includes(reference),
      );
      if (!found) throw absent.revision_not_found();
      return found;
    },
    namesOf: async (_tx: Tx, deploymentId: string) =>
      [...this.revisions.values()]
        .filter((one) => one.deploymentId === deploymentId)
        .sort((a, b) => b.number - a.number)
        .map(({ id, name }) => ({ id, name })),
    getMany: async (_tx: Tx, ids: readonly string[]) => ids.flatMap((id) => this.revisions.get(id) ?? []),
    activated: async (_tx: Tx, activation: Activation) => {
      this.activations.push(activation);
      const deployment = [...this.deployments.values()].find((one) => one.id === activation.deploymentId);
      if (deployment) deployment.activeRevisionId = activation.revisionId;
      const revision = this.revisions.get(activation.revisionId);
      if (revision) revision.state = 'active';
    },
  };

  readonly instancesPort = {
    status: async (_tx: Tx, id: string) =>
      this.ready.has(id)
        ? {
            desired: 1,
            ready: this.ready.get(id),
            alive: 1,
            restarts: 0,
            message: null,
            baseUrls: [],
            isAsleep: this.asleep.has(id),
          }
        : undefined,
    retain: async (_tx: Tx, id: string, holder: string, forSeconds?: number) => {
      this.holdsOf(id).add(forSeconds ? `${holder} ${forSeconds}` : holder);
      this.onHold?.(id);
    },
    release: async (_tx: Tx, id: string, holder: string) => void this.holdsOf(id).delete(holder),
  };

  addDeployment(name: string, tenantId = 'ten_a'): Deployment {
    const deployment = {
      id: `dep_${name}`,
      tenantId,
      name,
      state: 'creating',
      activeRevisionId: null,
      currentOperationId: null,
      version: 1,
    } as unknown as Deployment;
    this.deployments.set(`${tenantId}/${name}`, deployment);
    return deployment;
  }

  addRevision(
    deployment: Deployment,
    number: number,
    state: RevisionState = 'ready',
    ready: number | undefined = 1,
  ): Revision {
    const id = `rev_${deployment.name}_${number}`;
    const revision = {
      id,
      tenantId: deployment.tenantId,
      deploymentId: deployment.id,
      number,
      name: `${deployment.name}-0000${number}`,
      state,
    } as Revision;
    this.revisions.set(id, revision);
    if (ready !== undefined) this.ready.set(id, ready);
    return revision;
  }

  holdsOf(revisionId: string): Set<string> {
    const holds = this.holds.get(revisionId) ?? new Set();
    this.holds.set(revisionId, holds);
    return holds;
  }

  private find(tenantId: string, name: string): Deployment {
    const found = this.deployments.get(`${tenantId}/${name}`);
    if (!found) throw absent.deployment_not_found();
    return { ...found };
  }
}

/** The area over HTTP and through its port, with its own database. */
export class RoutingBed extends AreaBed {
  readonly routes = this.app.get<RoutesPort>(ROUTES, { strict: false });

  private constructor(
    area: AreaApplication,
    readonly neighbours: RoutingNeighbours,
  ) {
    super(area);
  }

  static async start(): Promise<RoutingBed> {
    const neighbours = new RoutingNeighbours();
    const area = await AreaBed.open({
      migrations: [...dataplane, ...migrations],
      modules: [RoutingModule],
      neighbours: [
        { provide: DEPLOYMENTS, useValue: neighbours.deploymentsPort },
        { provide: REVISIONS, useValue: neighbours.revisionsPort },
        { provide: INSTANCES, useValue: neighbours.instancesPort },
      ],
    });
    return new RoutingBed(area, neighbours);
  }

  /** Deletes old records of gateways, as the worker does every minute. */
  forgetRecords(): Promise<void> {
    return this.runNow('gateway-records');
  }

  /** Ends forgotten holds, as the worker does every few seconds. */
  endForgottenHolds(): Promise<void> {
    return this.runNow('route-holds');
  }

  /** The published slots, as a count per revision. */
  async published(deploymentId: string): Promise<{ generation: number; slots: Record<string, number> } | undefined> {
    const [row] = await this.database.read<any>(
      'system',
      'select generation::int, slots, targets from dataplane_routes where deployment_id = $1',
      [deploymentId],
    );
    if (!row) return undefined;
    const slots: Record<string, number> = {};
    for (const index of row.slots as number[])
      slots[row.targets[index].revision_id] = (slots[row.targets[index].revision_id] ?? 0) + 1;
    return { generation: row.generation, slots };
  }
}
