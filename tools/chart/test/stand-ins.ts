import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CONFIG_MAPS, isReady, kubeconfigOf, type Image, type TestBed } from '@slipway/kube-testbed';
import { parse } from 'yaml';
import { isBag } from '../src/chart.js';
import { kubectlAt } from './kubectl.js';
import { kubectl } from './programs.js';

const LOOK_MS = 200;
const program = (name: string): string => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
const ENDS = { api: 7070, gateway: 7080 };
const PARTS = ['postgres', 'api', 'worker', 'gateway'];

/**
 * Replaces the parts of a node that the bed lacks: images, the mounted configuration, the mounted token of the
 * worker, names of Services, and `kubectl port-forward`.
 */
export class StandIns {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-chart-'));
  private readonly stopped = new AbortController();
  private readonly servers: net.Server[] = [];
  private addresses: Record<string, string> = {};
  private following?: Promise<void>;

  constructor() {
    // As root, Postgres runs as another user, who must be able to enter.
    chmodSync(this.folder, 0o711);
  }

  /** The images of the chart, of its Postgres for trials, and of the simulator of deploy/kubernetes. */
  images(): Record<string, Image> {
    const run = (file: string, ...args: string[]): Image => ({
      command: [process.execPath, program(file), ...args, this.folder],
      listens: true,
    });
    const ours = ['api', 'worker', 'gateway'].map((app) => [`slipway-${app}`, run('image', app)]);
    return {
      ...Object.fromEntries(ours),
      'inference-sim': run('image', 'inference-sim'),
      postgres: run('postgres-image'),
    };
  }

  /** Keeps everything up to date for the release `slipway` in this namespace. */
  follow(bed: TestBed, namespace: string): void {
    this.following = (async () => {
      while (!this.stopped.signal.aborted) {
        // The API server may be busy, and the namespace or the release may not exist yet.
        await Promise.allSettled([this.lookAtPods(bed, namespace), this.lookAtConfig(bed, namespace)]);
        await delay(LOOK_MS);
      }
    })();
  }

  /** Forwards a free port of this machine to the process, like `kubectl port-forward`; returns the port. */
  async forward(component: keyof typeof ENDS): Promise<number> {
    const server = net.createServer((client) => {
      const address = this.addresses[`slipway-${component}`];
      if (address === undefined) return void client.destroy();
      const upstream = net.connect(ENDS[component], address);
      client.pipe(upstream).on('error', () => client.destroy());
      upstream.pipe(client).on('error', () => upstream.destroy());
    });
    this.servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as net.AddressInfo).port;
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await this.following;
    for (const server of this.servers) server.close();
    this.endPostgres();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async lookAtPods(bed: TestBed, namespace: string): Promise<void> {
    const pods = (await bed.pods(namespace, 'app.kubernetes.io/name=slipway')).filter(isReady);
    const found = PARTS.flatMap((part) => {
      const pod = pods.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === part);
      return pod?.status?.podIP ? [[`slipway-${part}`, pod.status.podIP]] : [];
    });
    this.addresses = Object.fromEntries(found) as Record<string, string>;
    this.write('services.json', JSON.stringify(this.addresses));
  }

  /** The text of the ConfigMap, except for the identity of the worker, which is a mounted token in a real pod. */
  private async lookAtConfig(bed: TestBed, namespace: string): Promise<void> {
    const { data } = await bed.client.get(CONFIG_MAPS, { namespace, name: 'slipway-config' });
    const config: unknown = parse(data['slipway.config.yaml']);
    const targets: unknown[] = isBag(config) && Array.isArray(config['targets']) ? config['targets'] : [];
    for (const target of targets.filter(isBag))
      if (target['kind'] === 'kubernetes') target['cluster'] = { kubeconfig: await this.kubeconfig(bed, namespace) };
    this.write('slipway.config.yaml', JSON.stringify(config));
  }

  private async kubeconfig(bed: TestBed, namespace: string): Promise<string> {
    const file = path.join(this.folder, 'kubeconfig');
    if (existsSync(file)) return file;
    const made = await kubectlAt(
      kubectl,
      bed.access.kubeconfig,
    )(['create', 'token', 'slipway-worker', '-n', namespace]);
    if (made.status !== 0) throw new Error(`the account of the worker gets no token: ${made.stderr}`);
    writeFileSync(file, kubeconfigOf({ ...bed.access, token: made.stdout.trim() }, namespace));
    return file;
  }

  /** Readers must find a whole file. */
  private write(name: string, text: string): void {
    const file = path.join(this.folder, name);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }

  /** The server has a session of its own, so it survives the sudden end of its pod. */
  private endPostgres(): void {
    const file = path.join(this.folder, 'postgres/postgres/data/postmaster.pid');
    if (!existsSync(file)) return;
    const [pid] = readFileSync(file, 'utf8').split('\n');
    process.kill(Number(pid), 'SIGINT');
  }
}
