import type { Pod } from '../objects.js';
import { isReady } from '../test-bed.js';

const INSTANCE_LABEL = 'slipway.dev/instance';

interface ReadyPod {
  name: string;
  address: string;
  at: number;
}

/** Where instances are, as their pods say it and as gateways are told it, and how long the second took after the first. */
export class Sightings {
  /** Ready pods by instance. */
  readonly pods = new Map<string, ReadyPod>();
  /** How often a ready pod got another address: KWOK gives a second one where it has not heard of the first yet. */
  readdressed = 0;
  /** Published addresses by instance. */
  private readonly addresses = new Map<string, string>();
  /** Instances that are published, by revision. */
  private readonly revisions = new Map<string, string[]>();
  private readonly awaited = new Map<string, ReadyPod>();
  private waits: number[] = [];

  constructor(private readonly now = () => performance.now()) {}

  /** All pods that there are: what is missing has gone. */
  listed(pods: readonly Pod[]): void {
    const there = new Set(pods.map(({ metadata }) => metadata.name));
    for (const [instance, { name }] of this.pods) if (!there.has(name)) this.gone(instance);
    for (const pod of pods) this.seen(pod);
  }

  seen(pod: Pod, isGone = false): void {
    const instance = pod.metadata.labels?.[INSTANCE_LABEL];
    if (instance === undefined) return;
    const { name } = pod.metadata;
    const known = this.pods.get(instance);
    const address = pod.status?.podIP;
    if (isGone || !isReady(pod) || address === undefined) {
      if (known?.name === name) this.gone(instance);
      return;
    }
    if (known?.name === name && known.address === address) return;
    if (known?.name === name) this.readdressed += 1;
    const ready = { name, address, at: this.now() };
    this.pods.set(instance, ready);
    if (this.addresses.get(instance) === address) this.waits.push(0);
    else this.awaited.set(instance, ready);
  }

  /** What gateways have of a revision now. */
  told(revision: string, instances: readonly { id: string; address: string }[]): void {
    for (const id of this.revisions.get(revision) ?? []) this.addresses.delete(id);
    this.revisions.set(
      revision,
      instances.map(({ id }) => id),
    );
    for (const { id, address } of instances) {
      this.addresses.set(id, address);
      const waiting = this.awaited.get(id);
      if (waiting?.address !== address) continue;
      this.awaited.delete(id);
      this.waits.push(this.now() - waiting.at);
    }
  }

  /** Instances that gateways have where their ready pods are. */
  get published(): number {
    return [...this.pods].filter(([instance, { address }]) => this.addresses.get(instance) === address).length;
  }

  /** Whether pods and gateways are where these instances are. */
  isSame(addresses: ReadonlyMap<string, string>): boolean {
    return [...addresses].every(
      ([instance, address]) => this.pods.get(instance)?.address === address && this.addresses.get(instance) === address,
    );
  }

  /** Milliseconds, of all pods since `takeWaits`. */
  get waited(): readonly number[] {
    return this.waits;
  }

  takeWaits(): readonly number[] {
    const taken = this.waits;
    this.waits = [];
    return taken;
  }

  private gone(instance: string): void {
    this.pods.delete(instance);
    this.awaited.delete(instance);
  }
}
