import { DeploymentRecordsModule, migrations as records } from '@slipway/area-revisions/deployment-records';
import { migrations as dataplane } from '@slipway/dataplane';
import type { InstanceDevices } from '@slipway/contracts';
import type { Accelerators, QuotaSettings } from '@slipway/platform-config';
import type { Reads, Tx } from '@slipway/platform-database';
import { AreaBed, testPrincipal, type AreaApplication } from '@slipway/platform-durable/operations/testing';
import {
  INSTANCES,
  type DeviceQuestion,
  type LastFailedStart,
  type RevisionDrain,
  type WorkloadStatus,
} from '@slipway/ports/instances';
import { POLICIES } from '@slipway/ports/policies';
import { REVISIONS } from '@slipway/ports/revisions';
import { ROUTES, type Route } from '@slipway/ports/routing';
import { DeploymentsModule } from '../src/index.js';

const TENANT = 'ten_a';

/** Fakes of the areas next to this one, which tests set directly. The records of deployments are real. */
export class DeploymentsNeighbours {
  /** Ids of a deployment's revisions. */
  readonly revisions = new Map<string, string[]>();
  readonly routes = new Map<string, Route>();
  readonly owners = new Map<string, string>();
  readonly statuses = new Map<string, WorkloadStatus>();
  readonly inFlight = new Map<string, number>();
  /** By deployment, like `activations`. */
  readonly failedStarts = new Map<string, LastFailedStart>();
  readonly activations = new Map<string, string>();
  /** The requests that leaving instances wait for, by deployment. */
  readonly drains = new Map<string, RevisionDrain[]>();
  /** The devices of an instance, by its engine; none by default. */
  readonly devices = new Map<string, InstanceDevices>();
  /** Names of the engines of revisions. */
  readonly engines = new Map<string, string>();
  readonly calls: string[] = [];
  /** Revisions whose processes keep running for a while after nothing retains them. */
  readonly lingering = new Set<string>();
  /** The reason why instances linger. */
  why = 'it is stopping';
  failOn?: string;
  /** Runs while a revision is being read, as a concurrent change. */
  onLook?: (revisionId: string) => Promise<void>;

  readonly revisionsPort = {
    shown: async (_reads: Reads, ids: readonly string[]) =>
      ids.map((id) => ({
        id,
        name: `name-of-${id}`,
        scaling: { min_replicas: 1 },
        resources: null,
        runtime: { target: 'local', engine: this.engines.get(id) ?? 'sim' },
      })),
    idsOf: async (_tx: Tx, deploymentId: string) => this.revisions.get(deploymentId) ?? [],
    lastActivations: async (_reads: Reads, ids: readonly string[]) => kept(this.activations, ids),
    retired: async (_tx: Tx, id: string) => this.note(`retired ${id}`),
    removeOf: async (_tx: Tx, id: string) => this.note(`remove revisions of ${id}`),
  };

  readonly policiesPort = { removeOf: async (_tx: Tx, id: string) => this.note(`remove policies of ${id}`) };

  readonly routesPort = {
    current: async (_tx: Tx, id: string) => this.routes.get(id),
    currentOf: async (_reads: Reads, ids: readonly string[]) => kept(this.routes, ids),
    remove: async (_tx: Tx, id: string) => {
      this.note(`remove ${id}`);
      this.routes.delete(id);
    },
    takeTraffic: async (_tx: Tx, id: string, operationId: string) => void this.owners.set(id, operationId),
    releaseTraffic: async (_tx: Tx, id: string, operationId: string) =>
      void (this.owners.get(id) === operationId && this.owners.delete(id)),
  };

  readonly instancesPort = {
    serving: async (_reads: Reads, ids: readonly string[]) => {
      for (const id of ids) await this.onLook?.(id);
      const found = kept(this.statuses, ids);
      return new Map([...found].map(([id, status]) => [id, { ...status, running: status.alive }]));
    },
    devices: ({ runtime }: DeviceQuestion): InstanceDevices =>
      this.devices.get(runtime.engine ?? '') ?? { accelerator: null, count: 0 },
    lastFailedStarts: async (_reads: Reads, ids: readonly string[]) => kept(this.failedStarts, ids),
    status: async (_tx: Tx, id: string) => {
      await this.onLook?.(id);
      return this.statuses.get(id);
    },
    release: async (_tx: Tx, id: string, holder: string) => {
      this.note(`release ${id} ${holder}`);
      const before = this.statuses.get(id);
      if (holder !== 'warm' || !before) return;
      if (this.lingering.has(id)) this.statuses.set(id, { ...before, desired: 0, ready: 0 });
      else this.statuses.delete(id);
    },
    inFlight: async (_tx: Tx, id: string) => this.inFlight.get(id) ?? 0,
    draining: async (_reads: Reads, ids: readonly string[]) => kept(this.drains, ids),
    unended: async () =>
      [...this.statuses].flatMap(([id, { desired, alive }]) =>
        desired === 0 && alive > 0 ? [{ id: `ins_${id}`, target: 'gpu-old', why: this.why }] : [],
      ),
    endDrains: async (_tx: Tx, _tenantId: string, id: string) => {
      const ended = (this.drains.get(id) ?? []).map(({ revisionName }) => revisionName);
      this.drains.delete(id);
      return ended;
    },
    wakeOnChange: async () => undefined,
  };

  /** Whether these calls were made in this order. */
  inOrder(...wanted: string[]): boolean {
    const positions = wanted.map((call) => this.calls.indexOf(call));
    return positions.every(
      (position, index) => position >= 0 && (index === 0 || position > (positions[index - 1] as number)),
    );
  }

  private note(call: string): void {
    if (this.failOn && call.startsWith(this.failOn)) throw new Error(`${call} fails`);
    this.calls.push(call);
  }
}

/** The area over HTTP, with its own database and neighbours that a test controls. */
export class DeploymentsBed extends AreaBed {
  private constructor(
    area: AreaApplication,
    readonly neighbours: DeploymentsNeighbours,
  ) {
    super(area);
  }

  /** @param operator the parts of the operator's file that a test is about */
  static async start(operator: { quotas?: QuotaSettings; accelerators?: Accelerators } = {}): Promise<DeploymentsBed> {
    const neighbours = new DeploymentsNeighbours();
    const area = await AreaBed.open({
      process: 'worker',
      migrations: [...dataplane, ...records],
      modules: [DeploymentRecordsModule, DeploymentsModule],
      neighbours: [
        { provide: REVISIONS, useValue: neighbours.revisionsPort },
        { provide: ROUTES, useValue: neighbours.routesPort },
        { provide: INSTANCES, useValue: neighbours.instancesPort },
        { provide: POLICIES, useValue: neighbours.policiesPort },
      ],
      config: { operator: { targets: [], secrets: {}, ...operator } },
    });
    return new DeploymentsBed(area, neighbours);
  }

  /** Runs one health round over all deployments, as the worker does every second. */
  healthRound(): Promise<void> {
    return this.runNow('deployment-health');
  }

  /** Runs an operation as far as possible now, after skipping its current sleep. */
  drive(operationId: string): Promise<any> {
    return this.operations.wake(TENANT, operationId);
  }

  /** Retries a failed operation. */
  async retry(operationId: string): Promise<void> {
    const { store } = this.operations;
    const { actor } = testPrincipal(TENANT);
    await this.database.tx({ tenantId: TENANT }, (tx) => store.retry(tx, operationId, actor));
  }

  age(operationId: string, seconds: number): Promise<void> {
    return this.operations.age(operationId, seconds);
  }

  /**
   * Runs an operation to its end, skipping its sleeps.
   * @returns its row
   */
  async finish(operationId: string): Promise<{ status: string; message: string; result: Record<string, unknown> }> {
    await this.operations.finish(TENANT, operationId);
    const [row] = await this.sql('select status, message, result, error_code from operations where id = $1', [
      operationId,
    ]);
    return row;
  }
}

function kept<Value>(all: ReadonlyMap<string, Value>, ids: readonly string[]): Map<string, Value> {
  return new Map([...all].filter(([id]) => ids.includes(id)));
}
