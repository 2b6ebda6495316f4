import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ClusterAccess } from './access.js';
import { KubeClient } from './client.js';
import { guard } from './guard.js';
import { BED_LABEL, FakeKubelet, type FakeKubeletOptions } from './kubelet/fake-kubelet.js';
import { DEPLOYMENTS, NAMESPACES, PODS, SERVICE_ACCOUNTS, type Pod } from './objects.js';
import { grant, workerRules, type GrantedAccess, type PolicyRule } from './service-account.js';
import { sharedAccess } from './test-plane.js';
import { eventually } from './waiting.js';

export interface TestBedOptions extends FakeKubeletOptions {
  /** Of a control plane of the test's own; by default that of the run. */
  access?: ClusterAccess;
}

/** Nodes and namespaces of one test file on a control plane that it may share with others. */
export class TestBed {
  private readonly namespaces: string[] = [];
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-bed-'));

  private constructor(
    readonly access: ClusterAccess,
    readonly kubelet: FakeKubelet,
    /** An administrator's. */
    readonly client: KubeClient,
  ) {
    guard.sweep(this.folder);
  }

  static async open(options: TestBedOptions = {}): Promise<TestBed> {
    const access = options.access ?? (await sharedAccess());
    return new TestBed(access, await FakeKubelet.start(access, options), new KubeClient(access, access.token));
  }

  /** A new namespace whose pods go to nodes of this bed only. `labels` may ask for a level of Pod Security. */
  async namespace(labels: Record<string, string> = {}): Promise<string> {
    const name = `test-${randomBytes(4).toString('hex')}`;
    const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': `${BED_LABEL}=${this.kubelet.bed}` };
    await this.client.create(NAMESPACES, { metadata: { name, labels, annotations } });
    this.namespaces.push(name);
    // Without it no pod is let in.
    const where = { namespace: name, name: 'default' };
    await eventually(`namespace ${name} has a ServiceAccount`, () => this.client.find(SERVICE_ACCOUNTS, where));
    return name;
  }

  /** What the product is given there: a ServiceAccount's token under rules, by default a worker's of the chart. */
  grant(
    namespaces: readonly [string, ...string[]],
    rules: readonly PolicyRule[] = workerRules(),
    name = `slipway-${randomBytes(3).toString('hex')}`,
  ): Promise<GrantedAccess> {
    const file = path.join(this.folder, `${name}.kubeconfig`);
    return grant(this.client, this.access, { name, namespaces, rules, file });
  }

  /** Pods that are not about to go. */
  async pods(namespace: string, labelSelector?: string): Promise<Pod[]> {
    const { items } = await this.client.list<Pod>(PODS, { namespace, labelSelector });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** The one pod there, as soon as it is as `is` says. */
  pod(namespace: string, what: string, is: (pod: Pod) => unknown, withinMs = 60_000): Promise<Pod> {
    return eventually(
      `a pod in ${namespace} is ${what}`,
      async () => (await this.pods(namespace)).find((pod) => is(pod)),
      withinMs,
    );
  }

  async close(): Promise<void> {
    // First what makes pods anew, then pods and nodes; the rest goes with the namespaces, in time.
    const gone = this.namespaces.map(async (namespace) => {
      const { items } = await this.client.list(DEPLOYMENTS, { namespace });
      for (const { metadata } of items) await this.client.remove(DEPLOYMENTS, { namespace, name: metadata.name });
      await this.client.remove(NAMESPACES, { name: namespace });
    });
    // A control plane of the test's own may be gone before its bed.
    await Promise.allSettled(gone);
    await this.kubelet.stop();
    await this.client.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether a pod is in the state of readiness that gets requests. */
export function isReady(pod: Pod): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && pod.metadata.deletionTimestamp === undefined;
}
