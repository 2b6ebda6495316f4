import { setTimeout as delay } from 'node:timers/promises';
import { KubeError, type KubeClient } from '../client.js';
import { LEASES, NODES, PODS, type KubeObject, type Pod } from '../objects.js';
import { eventually } from '../waiting.js';
import { now } from './container-run.js';
import type { Image } from './images.js';
import type { Pace } from './pace.js';
import { PodWorker, type PodHost } from './pod-worker.js';

/** Description of a node in a test. */
export interface NodeSpec {
  /** Unique in the cluster; by default the bed's name and a number. */
  name?: string;
  gpus?: number;
  labels?: Record<string, string>;
  taints?: { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  cpu?: string;
  memory?: string;
  pods?: number;
}

/** The state that all nodes of a kubelet share. */
export interface NodeHost {
  readonly client: KubeClient;
  readonly address: string;
  readonly port: number;
  readonly pace: Pace;
  imageOf(name: string): Image | undefined;
  claimAddress(): string;
  releaseAddress(address: string): void;
}

const LEASES_OF = 'kube-node-lease';
const RENEW_MS = 1_000;
const STATUS_EVERY = 5;
const RETRY_MS = 300;

/** One node: its lease, and a worker for each pod that is bound to it. */
export class FakeNode implements PodHost {
  private readonly workers = new Map<string, PodWorker>();
  private readonly stopped = new AbortController();
  private heard: Promise<void> = Promise.resolve();
  private wakeUp?: () => void;

  private constructor(
    readonly name: string,
    private readonly spec: NodeSpec,
    private readonly host: NodeHost,
  ) {}

  /** Returns when the scheduler can use the node. */
  static async start(name: string, spec: NodeSpec, host: NodeHost): Promise<FakeNode> {
    const node = new FakeNode(name, spec, host);
    await host.client.create(NODES, node.object());
    try {
      await eventually('the namespace of leases is there', () => node.createLease());
      void node.renew();
      void node.follow();
      await eventually(`node ${name} takes pods`, () => node.isOpen());
      return node;
    } catch (error) {
      await node.stop();
      throw error;
    }
  }

  get client(): KubeClient {
    return this.host.client;
  }

  get hostAddress(): string {
    return this.host.address;
  }

  get pace(): Pace {
    return this.host.pace;
  }

  imageOf(name: string): Image | undefined {
    return this.host.imageOf(name);
  }

  untilHeard(): Promise<void> {
    return this.heard;
  }

  /** The worker of the pod, if it runs here. */
  find(namespace: string, name: string): PodWorker | undefined {
    return [...this.workers.values()].find(({ key }) => key.namespace === namespace && key.name === name);
  }

  /** The node sends and receives nothing any more. Its processes continue, unless `kills` is set. */
  async silence(kills: boolean): Promise<void> {
    if (!this.wakeUp) this.heard = new Promise((resolve) => (this.wakeUp = resolve));
    if (kills) await Promise.all([...this.workers.values()].map((one) => this.drop(one)));
  }

  wake(): void {
    this.wakeUp?.();
    this.wakeUp = undefined;
    this.heard = Promise.resolve();
  }

  /** Ends its processes, and removes the node and its pods. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all([...this.workers.values()].map((one) => this.drop(one)));
    this.wake();
    // If the test has its own control plane, it may be gone before its nodes.
    await this.leave().catch(() => undefined);
  }

  /** The node is removed before its pods, so that their replacements are not bound to it. */
  private async leave(): Promise<void> {
    await this.client.remove(NODES, { name: this.name });
    await this.client.remove(LEASES, { namespace: LEASES_OF, name: this.name });
    const { items } = await this.client.list<Pod>(PODS, { fieldSelector: `spec.nodeName=${this.name}` });
    await Promise.all(
      items.map(({ metadata: { namespace, name, uid } }) =>
        this.client.remove(PODS, { namespace, name }, { graceSeconds: 0, uid }),
      ),
    );
  }

  /** Follows the pods that are bound to this node, and starts again after every end of a watch. */
  private async follow(): Promise<void> {
    const { signal } = this.stopped;
    const options = { fieldSelector: `spec.nodeName=${this.name}` };
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.client.list<Pod>(PODS, options);
        await this.heard;
        for (const pod of items) this.see(pod);
        const there = new Set(items.map(({ metadata }) => metadata.uid));
        for (const worker of this.workers.values()) if (!there.has(worker.uid)) await this.drop(worker);
        for await (const { type, object } of this.client.watch<Pod>(PODS, { ...options, resourceVersion, signal })) {
          await this.heard;
          if (signal.aborted) return;
          if (type === 'DELETED') await this.dropOf(object);
          else if (type !== 'BOOKMARK') this.see(object);
        }
      } catch {
        // The API server may be unavailable; some tests do that on purpose.
      }
      await delay(RETRY_MS, undefined, { ref: false });
    }
  }

  private see(pod: Pod): void {
    const { uid } = pod.metadata;
    const isOver = ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
    if (!this.workers.has(uid) && !isOver && !this.stopped.signal.aborted)
      this.workers.set(uid, new PodWorker(pod, this.host.claimAddress(), this));
    this.workers.get(uid)?.see(pod);
  }

  private async dropOf(pod: Pod): Promise<void> {
    const worker = this.workers.get(pod.metadata.uid);
    if (worker) await this.drop(worker);
  }

  private async drop(worker: PodWorker): Promise<void> {
    this.workers.delete(worker.uid);
    await worker.vanish();
    this.host.releaseAddress(worker.address);
  }

  private async renew(): Promise<void> {
    const { signal } = this.stopped;
    for (let round = 1; !signal.aborted; round += 1) {
      await delay(RENEW_MS, undefined, { ref: false });
      await this.heard;
      if (signal.aborted) return;
      try {
        await this.client.merge(LEASES, { namespace: LEASES_OF, name: this.name }, { spec: this.lease() });
        // After a silence, the controllers have set the node to not ready. Only its own status update changes that.
        if (round % STATUS_EVERY === 0)
          await this.client.patch(NODES, { name: this.name, sub: 'status' }, { status: { conditions: conditions() } });
      } catch {
        // Ignored for the same reason.
      }
    }
  }

  private async createLease(): Promise<true> {
    const lease: KubeObject = { metadata: { name: this.name, namespace: LEASES_OF }, spec: this.lease() };
    try {
      await this.client.create(LEASES, lease);
    } catch (error) {
      if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
    }
    return true;
  }

  private async isOpen(): Promise<boolean> {
    const node = await this.client.get(NODES, { name: this.name });
    const taints: { key: string }[] = node['spec']?.taints ?? [];
    return !taints.some(({ key }) => key.startsWith('node.kubernetes.io/'));
  }

  private lease(): object {
    return {
      holderIdentity: this.name,
      leaseDurationSeconds: 40,
      // The API requires microseconds.
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    };
  }

  private object(): KubeObject {
    const { labels, taints, gpus = 0, cpu = '64', memory = '512Gi', pods = 250 } = this.spec;
    const capacity = {
      cpu,
      memory,
      pods: String(pods),
      'ephemeral-storage': '1Ti',
      ...(gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {}),
    };
    return {
      kind: 'Node',
      metadata: {
        name: this.name,
        labels: { 'kubernetes.io/hostname': this.name, 'kubernetes.io/os': 'linux', ...labels },
      },
      spec: { ...(taints ? { taints } : {}) },
      status: {
        capacity,
        allocatable: capacity,
        conditions: conditions(),
        addresses: [{ type: 'InternalIP', address: this.host.address }],
        daemonEndpoints: { kubeletEndpoint: { Port: this.host.port } },
        nodeInfo: {
          machineID: this.name,
          systemUUID: this.name,
          bootID: this.name,
          kernelVersion: '6.1.0',
          osImage: 'test bed',
          containerRuntimeVersion: 'testbed://1.0',
          kubeletVersion: 'v1.36.4',
          kubeProxyVersion: '',
          operatingSystem: 'linux',
          architecture: 'amd64',
        },
      },
    };
  }
}

function conditions(): object[] {
  const at = now();
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False' }));
  return [{ type: 'Ready', status: 'True' }, ...pressures].map((one) => ({
    ...one,
    reason: 'TestBed',
    message: '',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  }));
}
