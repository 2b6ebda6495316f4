import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isReady, SECRETS, TestBed, type Pod } from '@slipway/kube-testbed';
import { Slipway } from '@slipway/sdk';
import { stringify } from 'yaml';
import { CHART, PRODUCTION } from '../src/chart.js';
import { runHelm } from '../src/helm.js';
import { EmptyDatabase } from './empty-database.js';
import { kubectlAt } from './kubectl.js';
import { helm, kubectl } from './programs.js';
import { StandIns } from './stand-ins.js';
import { makeVolumes } from './volumes.js';

/** Requests go to pods that were ready between one and two of these intervals ago. */
const BEHIND_MS = 1_000;
export const TOKEN = `slw_bootstrap_${'5'.repeat(64)}`;

/**
 * A release with the production values on simulated nodes. The pods are our own built processes, with their own
 * database.
 */
export class InstalledRelease {
  private readonly endpoints = new Map<string, { at: number; pods: Promise<Pod[]>; next: Promise<Pod[]> }>();

  private constructor(
    readonly bed: TestBed,
    readonly namespace: string,
    readonly models: string,
    private readonly database: EmptyDatabase,
    private readonly standIns: StandIns,
  ) {}

  /** Migrates with the chart's own hook, and returns when all pods are ready. */
  static async install(): Promise<InstalledRelease> {
    const database = await EmptyDatabase.create();
    const standIns = new StandIns();
    // Slower than the default of the bed: the 10 s of preStop then take 4 s, which is longer than the delay of the load
    // balancer.
    const pace = { graceSecondMs: 400, probeSecondMs: 250 };
    const bed = await TestBed.open({ nodes: [{}, {}, {}], images: standIns.images(), pace });
    const namespace = await bed.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const release = new InstalledRelease(bed, namespace, await bed.namespace(), database, standIns);
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
    await this.standIns.close();
    await this.database.drop();
  }

  private async begin(): Promise<void> {
    const { client, access } = this.bed;
    const { appUrl: url, ownerUrl, gatewayUrl } = this.database;
    const secret = (name: string, stringData: Record<string, string>) =>
      client.create(SECRETS, { metadata: { name, namespace: this.namespace }, type: 'Opaque', stringData });
    await secret('slipway-database', { url, 'owner-url': ownerUrl, 'gateway-url': gatewayUrl });
    await secret('slipway-key', { key: Buffer.alloc(32, 5).toString('base64') });
    await secret('slipway-bootstrap', { token: TOKEN });
    await makeVolumes(access.kubeconfig, 4, this.namespace);
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'slipway-workspaces' },
      spec: {
        accessModes: ['ReadWriteMany'],
        storageClassName: this.namespace,
        resources: { requests: { storage: '1Gi' } },
      },
    };
    const made = await kubectlAt(kubectl, access.kubeconfig)(
      ['apply', '-n', this.namespace, '-f', '-'],
      JSON.stringify(claim),
    );
    if (made.status !== 0) throw new Error(made.stderr);
    const values = { config: { defaults: false, targets: [targetOf(this.models)] } };
    writeFileSync(this.valuesFile, stringify(values));
    this.standIns.follow(this.bed, this.namespace);
    await this.helm('install', []);
  }

  private get valuesFile(): string {
    return path.join(this.standIns.folder, 'values.yaml');
  }

  private async helm(command: 'install' | 'upgrade', set: string[]): Promise<void> {
    const always = [
      `targets.namespaces[0].name=${this.models}`,
      // Volumes of the bed have a class of their own for each test.
      `gateway.persistence.storageClassName=${this.namespace}`,
    ];
    const sets = [...always, ...set].flatMap((one) => ['--set', one]);
    const values = ['--values', PRODUCTION, '--values', this.valuesFile, ...sets];
    const wait = ['--namespace', this.namespace, '--wait', '--timeout', '240s'];
    try {
      await runHelm(helm, [command, 'slipway', CHART, ...wait, ...values], this.bed.access.kubeconfig);
    } catch (error) {
      throw new Error(`helm ${command} failed:\n${await this.events()}`, { cause: error });
    }
  }
}

const targetOf = (namespace: string): object => ({
  name: 'pods',
  kind: 'kubernetes',
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
