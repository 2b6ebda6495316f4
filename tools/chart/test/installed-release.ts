import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { kubeconfigOf, isReady, SECRETS, TestBed, type Image, type Pod } from '@slipway/kube-testbed';
import { Slipway } from '@slipway/sdk';
import { CHART, exampleValues } from '../src/chart.js';
import { runHelm } from '../src/helm.js';
import { EmptyDatabase } from './empty-database.js';
import { kubectlAt } from './kubectl.js';
import { helm, kubectl } from './programs.js';

const IMAGE = fileURLToPath(new URL('./image.mjs', import.meta.url));
/** Requests go to pods that were ready between one and two of these intervals ago. */
const BEHIND_MS = 1_000;
export const TOKEN = `slw_bootstrap_${'5'.repeat(64)}`;

/** A release of the chart on simulated nodes. The pods are our own built processes, with their own database. */
export class InstalledRelease {
  private readonly endpoints = new Map<string, { at: number; pods: Promise<Pod[]>; next: Promise<Pod[]> }>();

  private constructor(
    readonly bed: TestBed,
    readonly namespace: string,
    readonly models: string,
    private readonly database: EmptyDatabase,
    private readonly folder: string,
  ) {}

  /** Migrates with the chart's own hook, and returns when all pods are ready. */
  static async install(): Promise<InstalledRelease> {
    const database = await EmptyDatabase.create();
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-chart-'));
    const imageOf = (app: string): Image => ({
      command: [process.execPath, IMAGE, app, path.join(folder, 'slipway.config.yaml')],
      listens: true,
    });
    const images = Object.fromEntries(['api', 'worker', 'gateway'].map((app) => [`slipway-${app}`, imageOf(app)]));
    // Slower than the default of the bed: the 10 s of preStop then take 4 s, which is longer than the delay of the load
    // balancer.
    const bed = await TestBed.open({ nodes: [{}, {}], images, pace: { graceSecondMs: 400, probeSecondMs: 250 } });
    const namespace = await bed.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const release = new InstalledRelease(bed, namespace, await bed.namespace(), database, folder);
    try {
      await release.begin();
      return release;
    } catch (error) {
      await release.close();
      throw error;
    }
  }

  /** Events of the cluster, for a failure that helm reports only as a timeout. */
  async events(): Promise<string> {
    const run = kubectlAt(kubectl, this.bed.access.kubeconfig);
    const pods = await run(['get', 'pods', '-n', this.namespace, '-o', 'wide']);
    const logs = await run([
      'logs',
      '-n',
      this.namespace,
      '-l',
      'app.kubernetes.io/name=slipway',
      '--prefix',
      '--tail=5',
    ]);
    return `${pods.stdout}\n${logs.stdout}${logs.stderr}`;
  }

  async upgrade(...set: string[]): Promise<void> {
    await this.helm('upgrade', set);
  }

  /** The pods that a Service would send requests to now. */
  async serving(component: string): Promise<Pod[]> {
    const pods = await this.bed.pods(this.namespace, `app.kubernetes.io/component=${component}`);
    return pods.filter(isReady);
  }

  /** URL of a pod behind the Service. The nodes know the endpoints with a short delay. */
  async urlOf(component: 'api' | 'gateway'): Promise<string> {
    const known = this.endpoints.get(component);
    if (!known || performance.now() - known.at > BEHIND_MS) {
      const found = this.serving(component);
      this.endpoints.set(component, { at: performance.now(), pods: known ? known.next : found, next: found });
    }
    const pods = await this.endpoints.get(component)!.pods;
    const pod = pods[Math.floor(Math.random() * pods.length)];
    if (!pod) throw new Error(`no pod of ${component} is ready`);
    return `http://${pod.status?.podIP}:${component === 'api' ? 7070 : 7080}`;
  }

  /**
   * A client for a pod that the Service would send requests to now. It does not retry, so that the suite sees every
   * failure.
   */
  async slipway(): Promise<Slipway> {
    return new Slipway({ baseUrl: await this.urlOf('api'), token: TOKEN, maxRetries: 0 });
  }

  async close(): Promise<void> {
    await this.bed.close();
    await this.database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async begin(): Promise<void> {
    const { client, access } = this.bed;
    const { appUrl: url, ownerUrl, gatewayUrl } = this.database;
    const secret = (name: string, stringData: Record<string, string>) =>
      client.create(SECRETS, { metadata: { name, namespace: this.namespace }, type: 'Opaque', stringData });
    await secret('slipway-database', { url, 'owner-url': ownerUrl, 'gateway-url': gatewayUrl });
    await secret('slipway-key', { key: Buffer.alloc(32, 5).toString('base64') });
    await secret('slipway-bootstrap', { token: TOKEN });
    const kubeconfig = path.join(this.folder, 'kubeconfig');
    // Replaces the volume, which nodes of the bed do not have. The text is that of the ConfigMap, except for the
    // identity of the worker.
    const config = { defaults: false, targets: [targetOf(kubeconfig, this.models)] };
    writeFileSync(path.join(this.folder, 'slipway.config.yaml'), JSON.stringify(config));
    await this.helm('install', []);
    const run = kubectlAt(kubectl, access.kubeconfig);
    const made = await run(['create', 'token', 'slipway-worker', '-n', this.namespace]);
    if (made.status !== 0) throw new Error(`the account of the worker gets no token: ${made.stderr}`);
    writeFileSync(kubeconfig, kubeconfigOf({ ...access, token: made.stdout.trim() }, this.namespace));
  }

  private async helm(command: 'install' | 'upgrade', set: string[]): Promise<void> {
    const sets = ['gateway.replicas=2', `targets.namespaces[0].name=${this.models}`, ...set].flatMap((one) => [
      '--set',
      one,
    ]);
    const values = ['--values', exampleValues().get('minimal')!, ...sets];
    const wait = ['--namespace', this.namespace, '--wait', '--timeout', '240s'];
    try {
      await runHelm(helm, [command, 'slipway', CHART, ...wait, ...values], this.bed.access.kubeconfig);
    } catch (error) {
      throw new Error(`helm ${command} failed:\n${await this.events()}`, { cause: error });
    }
  }
}

const targetOf = (kubeconfig: string, namespace: string): object => ({
  name: 'pods',
  kind: 'kubernetes',
  cluster: { kubeconfig },
  namespaces: { default: namespace },
  engines: {
    sim: {
      image: 'test/sim',
      command: ['sim', '--host', '0.0.0.0', '--port', '{port}', '--model', '{model.id}'],
      port: 8000,
      ready: { path: '/health', timeout_seconds: 60 },
    },
  },
});
