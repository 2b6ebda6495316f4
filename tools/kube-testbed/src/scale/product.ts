import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORKLOADS_CHANNEL } from '@slipway/contracts';
import { childEnvironment } from '@slipway/platform-config';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@slipway/platform-database';
import pg from 'pg';
import { guard } from '../guard.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const READY_MS = 120_000;
const TICKS_PER_SECOND = 100;

/** Name of the target in the operator's file. */
export const TARGET = 'scale';

/** The product as it is deployed, without api and gateway: workers as separate processes, on an embedded Postgres. */
export class Product {
  private readonly workers = new Set<Worker>();

  private constructor(
    private readonly home: string,
    private readonly postgres: EmbeddedPostgres,
    /** A superuser's connections: writes what should run, and reads what runs. */
    readonly admin: pg.Pool,
  ) {}

  static async start(): Promise<Product> {
    const home = mkdtempSync(path.join(os.tmpdir(), 'slipway-scale-'));
    const postgres = await startEmbeddedPostgres({ dir: home });
    const url = new URL(postgres.superuserUrl);
    url.pathname = new URL(postgres.appUrl).pathname;
    const admin = new pg.Pool({ connectionString: url.href, max: 4 });
    admin.on('error', () => undefined);
    const product = new Product(home, postgres, admin);
    const migrate = fork(path.join(ROOT, 'apps/api/dist/migrate.js'), [], product.options({}));
    const status = await new Promise((resolve) => migrate.once('exit', resolve));
    if (status !== 0) throw new Error(`the migrations ended with ${String(status)}`);
    return product;
  }

  get adminUrl(): string {
    return (this.admin.options as { connectionString: string }).connectionString;
  }

  /** Starts a worker. Resolves when it accepts operations. */
  async worker(options: {
    name: string;
    kubeconfig: string;
    namespace: string;
    mostInstances: number;
  }): Promise<Worker> {
    const config = path.join(this.home, `${options.name}.yaml`);
    writeFileSync(config, configOf(options));
    const child = fork(path.join(ROOT, 'apps/worker/dist/main.js'), [], this.options({ SLIPWAY_CONFIG: config }));
    const worker = new Worker(options.name, child);
    this.workers.add(worker);
    await worker.ready;
    return worker;
  }

  /**
   * Inserts deployments that were rolled out and have a route, as rows of the areas. Rollouts and the api are not
   * measured here, and a thousand rollouts would take longer than the rest.
   */
  async deploy(deployments: number, replicas: number): Promise<void> {
    const spec = { model: { id: 'm' }, runtime: { target: TARGET, engine: 'sim', args: {} } };
    await this.admin.query(`insert into tenants (id, name) values ('ten_scale', 'scale')`);
    await this.admin.query(
      `with written as (
         insert into workloads (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec)
         select 'rev_' || md5('r' || n), 'ten_scale', 'dep_' || md5('d' || n), 'scale-' || n, $2, $3, $4 from generate_series(1, $1::int) n
         returning revision_id, tenant_id)
       insert into workload_holds (revision_id, tenant_id, holder) select revision_id, tenant_id, 'route' from written`,
      [deployments, TARGET, replicas, JSON.stringify(spec)],
    );
    await this.admin.query('analyze workloads, workload_holds');
    await this.admin.query('select pg_notify($1, $2)', [WORKLOADS_CHANNEL, TARGET]);
  }

  /** Addresses of ready instances, by instance. */
  async ready(): Promise<Map<string, string>> {
    const { rows } = await this.admin.query<{ id: string; base_url: string }>(
      `select id, base_url from instances where state = 'ready' and base_url is not null`,
    );
    return new Map(rows.map(({ id, base_url }) => [id, new URL(base_url).hostname]));
  }

  /**
   * Number of all changes so far to rows of instances and to what gateways see. Each change increments the row's own
   * counter.
   */
  async changes(): Promise<number> {
    const { rows } = await this.admin.query<{ count: string }>(
      `select (select coalesce(sum(version), 0) from instances) + (select coalesce(sum(version), 0) from dataplane_backends) as count`,
    );
    return Number(rows[0]!.count);
  }

  /** The connection that leads the target, or undefined if there is no leader. */
  async leader(): Promise<number | undefined> {
    const { rows } = await this.admin.query<{ pid: number }>(
      `select a.pid from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.granted and a.application_name = 'slipway-target'`,
    );
    return rows[0]?.pid;
  }

  async close(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.end('SIGKILL')));
    await this.admin.end();
    await this.postgres.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  private options(own: Record<string, string>) {
    const env = childEnvironment({
      NODE_ENV: 'development',
      DATABASE_URL: this.postgres.appUrl,
      SLIPWAY_MIGRATE_DATABASE_URL: this.postgres.ownerUrl,
      SLIPWAY_HOME: this.home,
      SLIPWAY_CONFIG: undefined,
      REDIS_URL: undefined,
      QUEUE_BACKEND: 'postgres',
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
      SLIPWAY_LOG_LEVEL: 'warn',
      SLIPWAY_METRICS_PORT: undefined,
      ...own,
    });
    return {
      cwd: this.home,
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'] as ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
      detached: true,
    };
  }
}

/** One worker process and its resource use. The figures come from /proc, so they need Linux, as the bed does. */
export class Worker {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;

  constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    if (child.pid !== undefined) guard.watch(child.pid);
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`${name} is not ready after ${READY_MS} ms`)), READY_MS);
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`${name} ended with ${String(code)} before it was ready`)));
      void this.ended.then(() => clearTimeout(limit));
      child.once('message', () => clearTimeout(limit));
    });
  }

  get cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return (user! + system!) / TICKS_PER_SECOND;
  }

  get rssMb(): number {
    return this.memoryMb(/^VmRSS:\s+(\d+)/m);
  }

  /** The highest resident memory so far, in MB. */
  get mostRssMb(): number {
    return this.memoryMb(/^VmHWM:\s+(\d+)/m);
  }

  get sockets(): number {
    const folder = `/proc/${this.child.pid}/fd`;
    return readdirSync(folder).filter((fd) => isSocket(path.join(folder, fd))).length;
  }

  private memoryMb(line: RegExp): number {
    return Number(line.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))![1]) / 1024;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { pid } = this.child;
    if (pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    await this.ended;
    guard.forget(pid);
  }
}

/** A descriptor that was closed after the folder was read is not a socket. */
function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    return false;
  }
}

const configOf = ({
  kubeconfig,
  namespace,
  mostInstances,
}: {
  kubeconfig: string;
  namespace: string;
  mostInstances: number;
}) => `
defaults: false
targets:
  - name: ${TARGET}
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    max_instances: ${mostInstances}
    engines:
      sim:
        image: test/sim
        command: [sim, --port, "{port}"]
        port: 8000
        ready: {path: /health, timeout_seconds: 600}
`;
