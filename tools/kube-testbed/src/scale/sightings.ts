import type { Pod } from '../objects.js';
import { isReady } from '../test-bed.js';

const INSTANCE_LABEL = 'slipway.dev/instance';

interface ReadyPod {
  name: string;
  address: string;
  at: number;
}

/** Addresses of instances, from their pods and from the gateways, and the delay between the two. */
export class Sightings {
  /** Ready pods by instance. */
  readonly pods = new Map<string, ReadyPod>();
  /** Number of ready pods that got another address. KWOK assigns a second one if it has not received the first yet. */
  readdressed = 0;
  /** Published addresses by instance. */
  private readonly addresses = new Map<string, string>();
  /** Published instances by revision. */
  private readonly revisions = new Map<string, string[]>();
  private readonly awaited = new Map<string, ReadyPod>();
  private waits: number[] = [];

  constructor(private readonly now = () => performance.now()) {}

  /** Takes a full list of pods: missing ones are gone. */
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

  /** Takes the current instances of a revision on the gateways. */
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

  /** Number of instances for which gateways have the address of the ready pod. */
  get published(): number {
    return [...this.pods].filter(([instance, { address }]) => this.addresses.get(instance) === address).length;
  }

  /** Whether pods and gateways have exactly these addresses. */
  isSame(addresses: ReadonlyMap<string, string>): boolean {
    return [...addresses].every(
      ([instance, address]) => this.pods.get(instance)?.address === address && this.addresses.get(instance) === address,
    );
  }

  /** Milliseconds of all pods since the last `takeWaits`. */
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
