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
  /** Access to the test's own control plane; by default that of the run. */
  access?: ClusterAccess;
}

/** Nodes and namespaces of one test file, on a control plane that other files may share. */
export class TestBed {
  private readonly namespaces: string[] = [];
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-bed-'));

  private constructor(
    readonly access: ClusterAccess,
    readonly kubelet: FakeKubelet,
    /** A client with the rights of an administrator. */
    readonly client: KubeClient,
  ) {
    guard.sweep(this.folder);
  }

  static async open(options: TestBedOptions = {}): Promise<TestBed> {
    const access = options.access ?? (await sharedAccess());
    return new TestBed(access, await FakeKubelet.start(access, options), new KubeClient(access, access.token));
  }

  /** Creates a namespace whose pods run only on nodes of this bed. `labels` may set a level of Pod Security. */
  async namespace(labels: Record<string, string> = {}): Promise<string> {
    const name = `test-${randomBytes(4).toString('hex')}`;
    const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': `${BED_LABEL}=${this.kubelet.bed}` };
    await this.client.create(NAMESPACES, { metadata: { name, labels, annotations } });
    this.namespaces.push(name);
    // Without it, no pod is admitted.
    const where = { namespace: name, name: 'default' };
    await eventually(`namespace ${name} has a ServiceAccount`, () => this.client.find(SERVICE_ACCOUNTS, where));
    return name;
  }

  /**
   * Creates the access of the product: a ServiceAccount's token with rules, by default those of a worker in the chart.
   */
  grant(
    namespaces: readonly [string, ...string[]],
    rules: readonly PolicyRule[] = workerRules(),
    name = `slipway-${randomBytes(3).toString('hex')}`,
  ): Promise<GrantedAccess> {
    const file = path.join(this.folder, `${name}.kubeconfig`);
    return grant(this.client, this.access, { name, namespaces, rules, file });
  }

  /** Pods that are not being deleted. */
  async pods(namespace: string, labelSelector?: string): Promise<Pod[]> {
    const { items } = await this.client.list<Pod>(PODS, { namespace, labelSelector });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Waits until there is one pod that matches `is`, and returns it. */
  pod(namespace: string, what: string, is: (pod: Pod) => unknown, withinMs = 60_000): Promise<Pod> {
    return eventually(
      `a pod in ${namespace} is ${what}`,
      async () => (await this.pods(namespace)).find((pod) => is(pod)),
      withinMs,
    );
  }

  async close(): Promise<void> {
    // First the owners that create pods again, then pods and nodes. The namespaces are deleted later, with the rest.
    const gone = this.namespaces.map(async (namespace) => {
      const { items } = await this.client.list(DEPLOYMENTS, { namespace });
      for (const { metadata } of items) await this.client.remove(DEPLOYMENTS, { namespace, name: metadata.name });
      await this.client.remove(NAMESPACES, { name: namespace });
    });
    // If the test has its own control plane, it may be gone before its bed.
    await Promise.allSettled(gone);
    await this.kubelet.stop();
    await this.client.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether the pod is ready, and so gets requests. */
export function isReady(pod: Pod): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && pod.metadata.deletionTimestamp === undefined;
}
