import { randomBytes } from 'node:crypto';
import type { ClusterAccess } from '../access.js';
import { KubeClient } from '../client.js';
import { FakeNode, type NodeHost, type NodeSpec } from './fake-node.js';
import { IMAGES, type Image } from './images.js';
import { KubeletServer } from './kubelet-server.js';
import { PACE, type Pace } from './pace.js';
import type { PodWorker } from './pod-worker.js';

export interface FakeKubeletOptions {
  nodes?: NodeSpec[];
  /** Images in addition to those of the bed. */
  images?: Record<string, Image>;
  pace?: Partial<Pace>;
}

/** Label on every node, with the name of the bed; namespaces of the bed are limited to these nodes. */
export const BED_LABEL = 'slipway.test/bed';

const FIRST_HOST = 2;
const LAST_HOST = 254;

/**
 * Simulates the kubelets of a few nodes: pods that are bound to them become local processes with their own addresses on
 * loopback.
 */
export class FakeKubelet implements NodeHost {
  /** Label value of these nodes: `slipway.test/bed=<name>`. */
  readonly bed = `bed-${randomBytes(4).toString('hex')}`;
  /** May be changed at run time: a test that provides the image of a waiting pod ends its wait. */
  readonly images = new Map<string, Image>();
  readonly pace: Pace;
  private readonly nodes = new Map<string, FakeNode>();
  private readonly taken = new Set<string>();
  private wanted: string[] = [];
  private named = 0;
  private last = FIRST_HOST - 1;
  private server!: KubeletServer;

  private constructor(
    readonly client: KubeClient,
    options: FakeKubeletOptions,
  ) {
    this.pace = { ...PACE, ...options.pace };
    for (const [name, image] of Object.entries({ ...IMAGES, ...options.images })) this.images.set(name, image);
  }

  /** Returns when all nodes accept pods. */
  static async start(access: ClusterAccess, options: FakeKubeletOptions = {}): Promise<FakeKubelet> {
    const kubelet = new FakeKubelet(new KubeClient(access, access.token), options);
    try {
      kubelet.server = await KubeletServer.start(access.tls, (namespace, pod) => kubelet.find(namespace, pod));
      // One after the other: if one fails, no other is just starting.
      for (const node of options.nodes ?? [{}]) await kubelet.addNode(node);
      return kubelet;
    } catch (error) {
      await kubelet.stop();
      throw error;
    }
  }

  get address(): string {
    return this.server.address;
  }

  get port(): number {
    return this.server.port;
  }

  get nodeNames(): string[] {
    return [...this.nodes.keys()];
  }

  imageOf(name: string): Image | undefined {
    return this.images.get(name);
  }

  /** Returns each address in turn, so that none is used again soon, unless `reuse` requests it. */
  claimAddress(): string {
    const asked = this.wanted.shift();
    if (asked !== undefined) {
      this.taken.add(asked);
      return asked;
    }
    for (let tried = FIRST_HOST; tried <= LAST_HOST; tried += 1) {
      this.last = this.last >= LAST_HOST ? FIRST_HOST : this.last + 1;
      const address = `${this.server.network}.${this.last}`;
      if (this.taken.has(address)) continue;
      this.taken.add(address);
      return address;
    }
    throw new Error(`the bed has no address left for a pod: ${this.taken.size} are in use`);
  }

  releaseAddress(address: string): void {
    this.taken.delete(address);
  }

  /** The next new pod gets this address. */
  reuse(address: string): void {
    this.wanted.push(address);
  }

  async addNode(spec: NodeSpec = {}): Promise<string> {
    const name = spec.name ?? `${this.bed}-${(this.named += 1)}`;
    const labels = { ...spec.labels, [BED_LABEL]: this.bed };
    this.nodes.set(name, await FakeNode.start(name, { ...spec, labels }, this));
    return name;
  }

  /** Removes a node in the orderly way. */
  async removeNode(name: string): Promise<void> {
    await this.node(name).stop();
    this.nodes.delete(name);
  }

  /** The node is not reachable any more. Its processes continue, as after a network failure, or end with it. */
  silence(name: string, options: { kills?: boolean } = {}): Promise<void> {
    return this.node(name).silence(options.kills ?? false);
  }

  wake(name: string): void {
    this.node(name).wake();
  }

  /** Ends the process of a container as if it had crashed. @throws Error if none is running */
  crash(namespace: string, pod: string, container?: string): void {
    if (!this.find(namespace, pod)?.crash(container)) throw new Error(`nothing runs of pod ${namespace}/${pod}`);
  }

  /** The process id of a container, while it runs. */
  pidOf(namespace: string, pod: string, container?: string): number | undefined {
    return this.find(namespace, pod)?.runOf(container)?.pid;
  }

  /** Ends every process and removes the nodes and their pods from the cluster. */
  async stop(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.stop()));
    this.nodes.clear();
    await this.server?.stop();
    await this.client.close();
  }

  private node(name: string): FakeNode {
    const found = this.nodes.get(name);
    if (!found) throw new Error(`no node ${name}; there are ${this.nodeNames.join(', ')}`);
    return found;
  }

  private find(namespace: string, pod: string): PodWorker | undefined {
    for (const node of this.nodes.values()) {
      const found = node.find(namespace, pod);
      if (found) return found;
    }
    return undefined;
  }
}
