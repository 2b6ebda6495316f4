import { PODS } from '../api/kinds.js';
import type { Pod } from '../api/objects.js';
import type { ReflectorClock } from '../api/reflector.js';
import type { KubeApi } from '../api/requests.js';
import { isLeaving, isOver } from './pod-ends.js';

export interface StrayPodsOptions {
  /** Selects the pods that the watch shows. */
  labelSelector: string;
  clock?: Partial<ReflectorClock>;
  /** Receives the instance whose stray pods are others than before. */
  tell(instanceId: string): void;
}

interface StrayPod {
  instance: string;
  pod: Pod;
  /** Whether the API server has shown it without our labels. */
  isProven: boolean;
}

/** Between the disappearance of a pod and the check, so that pods that disappear together are checked together. */
const SETTLE_MS = 500;
/** Between two checks of known strays. Nothing reports their end. */
const AGAIN_MS = 60_000;
/** Of one round. Strays are made by hand, so more are a fault of something else. */
const MOST_CHECKED = 20;
const MOST_KNOWN = 100;

/**
 * Pods of our units that lost our labels. Their controllers have released and replaced them, and no watch of ours shows
 * them, so they would run on unseen with their devices.
 *
 * For a watch with a selector, a pod without our labels is deleted. But a pod that really ends was being deleted before,
 * so only a pod that disappears without that is looked up, once, by its name. While there is none, this makes no calls.
 */
export class StrayPods {
  private readonly known = new Map<string, StrayPod>();
  private timer?: NodeJS.Timeout;
  private isClosed = false;

  constructor(
    private readonly api: Pick<KubeApi, 'list'>,
    private readonly options: StrayPodsOptions,
  ) {}

  of(instanceId: string): Pod[] {
    const own = [...this.known.values()].filter(({ instance, isProven }) => isProven && instance === instanceId);
    return own.map(({ pod }) => pod);
  }

  /** The watch no longer shows the pod. */
  suspect(pod: Pod, instance: string): void {
    if (isLeaving(pod) || isOver(pod) || this.known.size >= MOST_KNOWN) return;
    this.known.set(pod.metadata.uid ?? '', { instance, pod, isProven: false });
    this.schedule(SETTLE_MS);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private schedule(ms: number): void {
    if (this.isClosed || this.known.size === 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), ms / (this.options.clock?.shorterRetries ?? 1));
    this.timer.unref();
  }

  private async check(): Promise<void> {
    const round = [...this.known].sort(([, one], [, other]) => Number(one.isProven) - Number(other.isProven));
    for (const [uid, stray] of round.slice(0, MOST_CHECKED)) {
      if (this.isClosed) return;
      // The next round tries again.
      await this.confirm(uid, stray).catch(() => undefined);
    }
    this.schedule(AGAIN_MS);
  }

  private async confirm(uid: string, stray: StrayPod): Promise<void> {
    const { name, namespace = '' } = stray.pod.metadata;
    const fieldSelector = `metadata.name=${name}`;
    // Fewer rights are necessary for a list than for a get, because the watch needs them anyway.
    const { items } = await this.api.list<Pod>(PODS, namespace, { fieldSelector });
    const found = items.find(({ metadata }) => metadata.uid === uid);
    const isStray = found !== undefined && !isOver(found) && !isSelected(found, this.options.labelSelector, stray);
    if (isStray) this.known.set(uid, { ...stray, isProven: true });
    else this.known.delete(uid);
    if (isStray !== stray.isProven) this.options.tell(stray.instance);
  }
}

/** Whether the watch shows it again, as a pod of the same instance. */
function isSelected({ metadata: { labels = {} } }: Pod, selector: string, { pod }: StrayPod): boolean {
  const wanted = selector === '' ? [] : selector.split(',').map((part) => part.split('=') as [string, string]);
  const isWatched = wanted.every(([key, value]) => labels[key] === value);
  const own = Object.entries(pod.metadata.labels ?? {}).filter(([key]) => key.startsWith('slipway.dev/'));
  return isWatched && own.every(([key, value]) => labels[key] === value);
}
