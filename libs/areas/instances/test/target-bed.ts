import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Test } from '@nestjs/testing';
import type { INestApplicationContext } from '@nestjs/common';
import { OPERATOR_TENANT } from '@slipway/contracts';
import { migrations as dataplane } from '@slipway/dataplane';
import { migrations as auth } from '@slipway/platform-http/auth';
import { KeyRing, type Config, type OperatorConfig, type TenantShare } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase, until as untilSo } from '@slipway/platform-database/testing';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import { TYPESCRIPT_CHILD } from '@slipway/platform-testing/typescript-child';
import {
  INSTANCES,
  type Retainer,
  type InstancesPort,
  type RevisionSpecIssue,
  type Workload,
} from '@slipway/ports/instances';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { REVISIONS } from '@slipway/ports/revisions';
import type { RevisionSpec } from '@slipway/contracts';
import { TwinCluster } from '@slipway/target-driver/twin';
import { ProcessDriver, type ProcessTargetConfig } from '@slipway/target-process';
import pg from 'pg';
import { migrations } from '../src/index.js';
import { InstancesProcessModule, twinTarget, type FakeDeployments, type FakeRevisions } from './worker-module.js';
import { DEFAULT_INSTANCE_TIMINGS, type InstanceTimings } from '../src/catalog/timings.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const TENANT = 'ten_a';
/** In the operator's file: a target that restarts and probes its servers itself. */
const TWIN = { name: 'twin', kind: 'twin' };
/**
 * Times of the product that many tests would wait for. Shortening the others costs more than it saves, so a test that
 * waits for one sets it.
 */
const SHORT_TIMINGS: InstanceTimings = {
  ...DEFAULT_INSTANCE_TIMINGS,
  busyDeviceCheckMs: 250,
  healthCheckMs: 150,
  secretCheckMs: 200,
  logSignMs: 200,
  awayRetryMs: 200,
  drainMinSeconds: 0.1,
  leaveMinSeconds: 0.3,
};

/** Shorter than the time limit of a test, so that the error shows the last observed state. */
const DEADLINE_MS = 45_000;

interface BedOptions {
  /**
   * Adds a target that restarts and probes its servers. Only the process of the test knows the kind, so no worker may
   * be a child.
   */
  withTwin?: boolean;
  /** Devices of the target "local", which then also has the engines `gpu` (entire devices) and `part`. */
  devices?: ProcessTargetConfig['devices'];
  /** The share of one tenant of the target "local"; all of it by default, because the bed has two tenants. */
  share?: TenantShare;
  /** Times that differ from `SHORT_TIMINGS`. */
  timings?: Partial<InstanceTimings>;
}

/**
 * A crash or an unhealthy server is noticed soon. A slow answer does not count as unhealthy, because a busy machine
 * slows all engines down.
 */
export const QUICK_PROBES = { interval_seconds: 0.2, timeout_seconds: 10, failure_threshold: 1 };

export interface StartLine {
  instance: string;
  generation: number;
  pid: number;
  model: string;
  key?: string;
  devices?: string;
}

export interface InstanceState {
  id: string;
  state: string;
  generation: number;
  restarts: number;
  message: string | null;
  back_off: number | null;
  base_url: string | null;
  incarnation: string | null;
  place: string | null;
  reason: string | null;
  drift: string | null;
}

/** Returns the workload that a rollout would want for a revision. */
export function workloadOf(revisionId: string, spec: RevisionSpec): Workload {
  return { tenantId: TENANT, deploymentId: 'dep_1', revisionId, revisionName: `chat-${revisionId.slice(4)}`, spec };
}

/** A process with this area, used through its port. */
export class InstancesProcess {
  constructor(readonly context: INestApplicationContext) {}

  readonly instances = this.context.get<InstancesPort>(INSTANCES);
  readonly database = this.context.get(Database);
  readonly retirements = this.context.get<FakeRevisions>(REVISIONS).retirements;
  readonly deployments = this.context.get<FakeDeployments>(DEPLOYMENTS);

  check(spec: RevisionSpec, tenantId = TENANT): Promise<RevisionSpecIssue[]> {
    return this.database.tx({ tenantId }, (tx) => this.instances.check(tx, tenantId, spec));
  }

  want(revisionId: string, spec: RevisionSpec, holder: Retainer = 'operation:op_1'): Promise<void> {
    return this.database.tx('system', (tx) => this.instances.want(tx, workloadOf(revisionId, spec), holder));
  }

  retain(revisionId: string, retainer: Retainer, forSeconds?: number): Promise<void> {
    return this.database.tx({ tenantId: TENANT }, (tx) => this.instances.retain(tx, revisionId, retainer, forSeconds));
  }

  release(revisionId: string, holder: Retainer = 'operation:op_1'): Promise<void> {
    return this.database.tx({ tenantId: TENANT }, (tx) => this.instances.release(tx, revisionId, holder));
  }

  status(revisionId: string) {
    return this.database.tx({ tenantId: TENANT }, (tx) => this.instances.status(tx, revisionId));
  }

  rows(revisionId: string): Promise<InstanceState[]> {
    return this.database.read<InstanceState>(
      'system',
      `select id, state, generation, restarts, message, base_url, incarnation, place, reason, drift, extract(epoch from next_start_at - observed_at)::float8 as back_off from instances where revision_id = $1 order by ordinal`,
      [revisionId],
    );
  }

  async ready(revisionId: string, count = 1): Promise<InstanceState[]> {
    await until(
      `${count} of ${revisionId} to be ready`,
      async () => (await this.status(revisionId))?.ready === count,
      () => this.rows(revisionId),
    );
    return this.rows(revisionId);
  }

  async retired(revisionId: string): Promise<void> {
    // The area reports the retirement before the commit.
    const committed = 'select from workloads where revision_id = $1 and not is_active';
    const isCommitted = async () => (await this.database.read('system', committed, [revisionId])).length > 0;
    await until(
      `${revisionId} to retire`,
      async () => this.retirements.includes(revisionId) && (await isCommitted()),
      () => this.rows(revisionId),
    );
  }

  /** Waits until the revision waits for a device, with a message that contains `why`. */
  async waitsForDevice(revisionId: string, why: string): Promise<void> {
    const isWaiting = async () => {
      const { reason, message } = (await this.status(revisionId)) ?? {};
      return reason === 'waiting_for_device' && message?.includes(why) === true;
    };
    await until(`${revisionId} to wait: ${why}`, isWaiting, () => this.rows(revisionId));
  }

  published(
    revisionId: string,
  ): Promise<
    {
      instances: { id: string; base_url: string; state: string }[];
      credential: string | null;
      guard: unknown;
      revision_name: string;
    }[]
  > {
    return this.database.read(
      'system',
      'select instances, credential, guard, revision_name from dataplane_backends where revision_id = $1',
      [revisionId],
    );
  }

  async events(): Promise<{ type: string; data: Record<string, unknown> }[]> {
    return this.database.read(
      'system',
      `select type, data from events where stream = 'deployment/dep_1' order by sequence`,
    );
  }

  /** @param signal the signal for the shutdown hooks, a parameter that Nest's interface does not have */
  close(signal?: string): Promise<void> {
    const context: { close(signal?: string): Promise<void> } = this.context;
    return context.close(signal);
  }
}

/** A host with a database. A test starts and ends workers on it, and its engines log their starts. */
export class TargetBed {
  /** The servers of the target "twin". Every worker of the bed sees the same ones. */
  readonly cluster = new TwinCluster();
  private readonly processes: InstancesProcess[] = [];
  private readonly children: ChildProcess[] = [];

  private constructor(
    readonly home: string,
    private readonly db: TestDatabase,
    readonly config: Config,
    private readonly timings: InstanceTimings,
  ) {}

  static async create(
    maxInstances = 4,
    { withTwin = false, devices, share = 'all', timings = {} }: BedOptions = {},
  ): Promise<TargetBed> {
    const home = await mkdtemp(join(tmpdir(), 'slipway-area-instances-'));
    const db = await createTestDatabase([...platformMigrations, ...auth, ...dataplane, ...migrations]);
    await addTenants(db);
    await writeFile(join(home, 'key'), 'sk-from-file\n');
    const config = {
      home,
      operator: operatorConfig(home, { maxInstances, share }, withTwin ? [TWIN] : [], devices),
      database: { url: db.url, poolSize: 5 },
      keyRing: new KeyRing(Buffer.alloc(32)),
      ownPorts: [],
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    } as unknown as Config;
    return new TargetBed(home, db, config, { ...SHORT_TIMINGS, ...timings });
  }

  async process(role: 'worker' | 'api', change: Partial<Config> = {}): Promise<InstancesProcess> {
    const module = InstancesProcessModule.of({ ...this.config, ...change }, role, this.timings, [
      twinTarget(this.cluster),
    ]);
    const context = await Test.createTestingModule({ imports: [module] }).compile();
    try {
      await context.init();
    } catch (refusal) {
      // A process would end. Here its connections would stay, and reconnect in the middle of a later test.
      await context.close();
      throw refusal;
    }
    const made = new InstancesProcess(context);
    this.processes.push(made);
    return made;
  }

  /** Starts a worker that finds the tools of its host in the folder `bin` of the bed. */
  async deviceHost(): Promise<InstancesProcess> {
    const tools = join(this.home, 'bin');
    await mkdir(tools, { recursive: true });
    return this.process('worker', { searchPath: `${tools}:/usr/bin:/bin` });
  }

  /** Starts a worker in a separate process, which can be killed. */
  async child(change: Partial<Config> = {}): Promise<ChildProcess> {
    const given = { config: { ...this.config, ...change }, timings: this.timings };
    const child = fork(join(HERE, 'runner.ts'), [JSON.stringify(given)], {
      execArgv: [...TYPESCRIPT_CHILD],
      cwd: join(HERE, '..'),
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.children.push(child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the runner ended with ${code}`)));
    });
    return child;
  }

  /** Opens a connection in addition to those of the product. */
  async owner(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.db.ownerUrl });
    await client.connect();
    return client;
  }

  spec(args: Record<string, string | number | boolean> = {}, change: Partial<RevisionSpec> = {}): RevisionSpec {
    return {
      model: { id: 'tiny' },
      runtime: { target: 'local', engine: 'mini', args, env: {} },
      scaling: { min_replicas: 1 },
      probes: { ...QUICK_PROBES, interval_seconds: 1 },
      ...change,
    };
  }

  /** Returns a spec for the target that restarts and probes its servers itself. */
  twinSpec(change: Partial<RevisionSpec> = {}): RevisionSpec {
    return this.spec({}, { runtime: { target: 'twin', engine: 'sim', args: {}, env: {} }, ...change });
  }

  /** Returns a spec of an engine on devices, which is ready as soon as there is a file with its model's name. */
  gpuSpec(model: string, engine: 'gpu' | 'part', resources?: RevisionSpec['resources']): RevisionSpec {
    const change = { model: { id: model }, runtime: { target: 'local', engine, args: {}, env: {} } };
    return this.spec({}, { ...change, ...(resources && { resources }) });
  }

  makeReady(model: string): Promise<void> {
    return writeFile(join(this.home, `ready-${model}`), '');
  }

  readonly illFile = () => join(this.home, 'ill');

  /** Returns a file that the driver keeps for an instance, such as `1.stop`. */
  readonly fileOf = (instanceId: string, name = '') => join(this.home, 'instances', 'local', instanceId, name);

  /** Creates a driver of this host in addition to those of the workers, like the driver of a late worker. */
  driver(graceSeconds = 30, name = 'local'): ProcessDriver {
    const config = { ...this.config.operator.targets[0], name } as ProcessTargetConfig;
    return new ProcessDriver(config, { home: this.home, graceSeconds });
  }

  async starts(): Promise<StartLine[]> {
    const text = await readFile(join(this.home, 'starts.log'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as StartLine);
  }

  /** Returns the devices of each start of a model. */
  async devicesOf(model: string): Promise<(string | undefined)[]> {
    return (await this.starts()).filter((start) => start.model === model).map((start) => start.devices);
  }

  async dispose(): Promise<void> {
    for (const child of this.children) child.kill('SIGKILL');
    await Promise.all(this.processes.map((each) => each.close()));
    // A test may have added a target.
    const folders = await readdir(join(this.home, 'instances')).catch(() => []);
    for (const target of folders.filter((name) => !name.startsWith('.'))) await this.stopEngines(target);
    await this.cluster.dispose();
    await this.db.drop();
    await rm(this.home, { recursive: true, force: true });
  }

  private async stopEngines(target: string): Promise<void> {
    const driver = this.driver(0, target);
    for (const { instanceId } of await driver.list())
      await until(`${instanceId} to be gone`, async () => (await driver.terminate(instanceId)) === 'gone');
    await driver.close();
  }
}

/** Inserts an operation that counts as live by its status. */
export async function addOperation(owner: pg.Client, id: string): Promise<void> {
  await owner.query(
    `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, status, wake_at)
     values ($1, 'ten_a', 'rollout', 'deployment', 'chat', 'dep_1', 'deployment/dep_1', '{}', 'running', now() + interval '1 hour')`,
    [id],
  );
}

/** `ten_a` is the operator's tenant. The configuration decides what other tenants may do. */
async function addTenants({ ownerUrl }: TestDatabase): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(
    `insert into tenants (id, name, is_operator) values ('ten_a', $1, true), ('ten_b', 'acme', false)`,
    [OPERATOR_TENANT],
  );
  await owner.end();
}

function operatorConfig(
  home: string,
  { maxInstances, share }: { maxInstances: number; share: TenantShare },
  more: readonly object[],
  devices?: ProcessTargetConfig['devices'],
): OperatorConfig {
  const command = [
    'node',
    join(HERE, 'engine.mjs'),
    '--port',
    '{port}',
    '--model',
    '{model.id}',
    '--start-log',
    join(home, 'starts.log'),
    '--ill-file',
    join(home, 'ill'),
  ];
  // A busy machine needs many seconds to start an engine.
  const ready = { path: '/health', timeout_seconds: 60 };
  const onDevices = [...command, '--devices', '{gpu.indices}', '--ready-file', join(home, 'ready-{model.id}')];
  const gpuEngines = {
    gpu: { command: onDevices, ready, gpus: { min: 1, max: 2, share: 'exclusive' } },
    part: { command: onDevices, ready, gpus: { min: 1, max: 1, share: 'fraction' } },
  };
  const targets: object[] = [
    {
      name: 'local',
      kind: 'process',
      max_instances: maxInstances,
      share_per_tenant: share,
      ...(devices === undefined ? {} : { devices }),
      engines: {
        ...(devices === undefined ? {} : gpuEngines),
        mini: { command, args: { exit_code: '--exit-code={}' }, env_allow: ['API_KEY'], ready },
        file: { command: [...command, '--model-file', '{model.uri}'], ready },
      },
    },
    { name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'] },
    ...more,
  ];
  return {
    targets: targets as OperatorConfig['targets'],
    secrets: { key: { file: join(home, 'key') }, lost: { file: join(home, 'no-such-file') } },
  };
}

/** Waits for a condition, with longer and longer pauses between checks. Its error shows the last observed state. */
export function until(
  what: string,
  isSo: () => Promise<boolean>,
  seen: () => Promise<unknown> = async () => undefined,
  longestPauseMs = 100,
): Promise<void> {
  return untilSo(what, isSo, seen, { deadlineMs: DEADLINE_MS, longestPauseMs });
}

/** Whether the process runs. A process that has ended is only a zombie until its parent notices. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
