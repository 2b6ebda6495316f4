import { setTimeout as delay } from 'node:timers/promises';
import { isNotFound, KubeError, type KubeClient } from '../client.js';
import { PODS, type Condition, type Pod } from '../objects.js';
import { ContainerLife, type ContainerHost } from './container-life.js';
import { now, type ContainerRun } from './container-run.js';
import type { Image } from './images.js';
import type { Pace } from './pace.js';

/** The parts of its node that a pod needs. */
export interface PodHost {
  readonly client: KubeClient;
  readonly hostAddress: string;
  readonly pace: Pace;
  imageOf(name: string): Image | undefined;
  /** Settles at once unless the node is silent. */
  untilHeard(): Promise<void>;
}

const RETRY_MS = 300;

/** Runs one pod that is bound to a node, publishes its status, and ends it. */
export class PodWorker {
  private readonly inits: ContainerLife[] = [];
  private readonly containers: ContainerLife[] = [];
  private readonly since = new Map<string, Pick<Condition, 'status' | 'lastTransitionTime'>>();
  private readonly startTime = now();
  private isInitialized = false;
  private isEnding = false;
  private isGone = false;
  private isDirty = false;
  private publishing?: Promise<void>;

  constructor(
    private pod: Pod,
    readonly address: string,
    private readonly host: PodHost,
  ) {
    void this.begin();
  }

  get uid(): string {
    return this.pod.metadata.uid;
  }

  get key(): { namespace: string; name: string } {
    return { namespace: this.pod.metadata.namespace, name: this.pod.metadata.name };
  }

  /** Takes the current state of the pod in the API server. */
  see(pod: Pod): void {
    this.pod = pod;
    const shown = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    const own = this.since.get('Ready')?.status;
    // The node controller has changed it. Kubelets correct that.
    if (shown !== undefined && own !== undefined && shown !== own) this.changed();
    if (pod.metadata.deletionTimestamp !== undefined && !this.isEnding) {
      this.isEnding = true;
      void this.end(pod.metadata.deletionGracePeriodSeconds ?? 0);
    }
  }

  /** The pod or its node is gone: its processes end at once. */
  async vanish(): Promise<void> {
    this.isGone = true;
    await Promise.all([...this.inits, ...this.containers].map((one) => one.kill()));
  }

  /** Ends the process of a container as if it had crashed; true if there was one. */
  crash(container?: string): boolean {
    const run = this.runOf(container);
    run?.crash();
    return run?.pid !== undefined;
  }

  /** The run whose output is requested. */
  runOf(container?: string, previous = false): ContainerRun | undefined {
    const lives = [...this.inits, ...this.containers];
    const found = container === undefined ? this.containers[0] : lives.find(({ spec }) => spec.name === container);
    return previous ? found?.before : found?.current;
  }

  hasContainer(name: string): boolean {
    const { containers, initContainers = [] } = this.pod.spec;
    return [...initContainers, ...containers].some((one) => one.name === name);
  }

  private async begin(): Promise<void> {
    const { initContainers = [], containers, restartPolicy = 'Always' } = this.pod.spec;
    const restartsInit = (code: number): boolean => code !== 0 && restartPolicy !== 'Never';
    this.changed();
    for (const spec of initContainers) {
      const life = new ContainerLife(spec, this.containerHost(), (end) => restartsInit(end.exitCode));
      this.inits.push(life);
      await life.over;
      if (this.isEnding || this.isGone || life.end?.exitCode !== 0) return this.changed();
    }
    this.isInitialized = true;
    const restarts = (code: number): boolean =>
      restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && code !== 0);
    for (const spec of containers)
      this.containers.push(new ContainerLife(spec, this.containerHost(), (end) => restarts(end.exitCode)));
    this.changed();
  }

  private containerHost(): ContainerHost {
    const { host, pod, address } = this;
    return {
      client: host.client,
      pod,
      address,
      pace: host.pace,
      imageOf: (name) => host.imageOf(name),
      changed: () => this.changed(),
    };
  }

  private async end(graceSeconds: number): Promise<void> {
    await Promise.all([...this.inits, ...this.containers].map((one) => one.stop(graceSeconds)));
    this.changed();
    await this.publishing;
    while (!this.isGone) {
      await this.host.untilHeard();
      try {
        await this.host.client.remove(PODS, this.key, { graceSeconds: 0, uid: this.uid });
        return;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private changed(): void {
    this.isDirty = true;
    this.publishing ??= this.publish().finally(() => (this.publishing = undefined));
  }

  /** Publishes the newest status after each change; several changes at once are one update. */
  private async publish(): Promise<void> {
    while (this.isDirty && !this.isGone) {
      await this.host.untilHeard();
      this.isDirty = false;
      try {
        const patch = { metadata: { uid: this.uid }, status: this.status() };
        await this.host.client.patch(PODS, { ...this.key, sub: 'status' }, patch);
      } catch (error) {
        // The pod is gone, or replaced by another pod of that name.
        if (isNotFound(error) || (error instanceof KubeError && error.status === 409)) return;
        this.isDirty = true;
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  private status(): object {
    const main = this.pod.spec.containers.map((spec) => this.lifeOf(this.containers, spec.name, spec.image));
    const unready = main.filter(({ ready }) => !ready).map(({ name }) => String(name));
    const isReady = unready.length === 0;
    const whyNot = { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
    return {
      phase: this.phase(),
      hostIP: this.host.hostAddress,
      podIP: this.address,
      podIPs: [{ ip: this.address }],
      startTime: this.startTime,
      conditions: [
        this.condition('PodReadyToStartContainers', true),
        this.condition('Initialized', this.isInitialized, { reason: 'ContainersNotInitialized' }),
        this.condition('ContainersReady', isReady, whyNot),
        this.condition('Ready', isReady, whyNot),
      ],
      initContainerStatuses: (this.pod.spec.initContainers ?? []).map((spec) => {
        const shown = this.lifeOf(this.inits, spec.name, spec.image);
        const hasPassed = this.inits.find((one) => one.spec.name === spec.name)?.end?.exitCode === 0;
        return { ...shown, ready: hasPassed };
      }),
      containerStatuses: main,
    };
  }

  private lifeOf(lives: ContainerLife[], name: string, image: string): Record<string, unknown> & { ready: boolean } {
    const found = lives.find(({ spec }) => spec.name === name);
    if (found) return found.status();
    const state = { waiting: { reason: 'PodInitializing' } };
    return { name, image, imageID: '', state, lastState: {}, restartCount: 0, started: false, ready: false };
  }

  private phase(): string {
    const failedInit = this.inits.some(
      ({ end }) => end && end.exitCode !== 0 && this.pod.spec.restartPolicy === 'Never',
    );
    if (failedInit) return 'Failed';
    const { containers } = this;
    if (containers.length === 0 || !containers.every(({ hasBegun }) => hasBegun)) return 'Pending';
    const policy = this.pod.spec.restartPolicy ?? 'Always';
    const ends = containers.map(({ end }) => end);
    const isOver = ends.every(
      (end) => end && (this.isEnding || policy === 'Never' || (policy === 'OnFailure' && end.exitCode === 0)),
    );
    if (!isOver) return 'Running';
    return ends.every((end) => end?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }

  private condition(type: string, isTrue: boolean, whyNot: { reason?: string; message?: string } = {}): Condition {
    const status = isTrue ? 'True' : 'False';
    const before = this.since.get(type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now();
    this.since.set(type, { status, lastTransitionTime });
    // Null removes the value of an earlier patch.
    const { reason, message } = isTrue ? {} : whyNot;
    return { type, status, lastTransitionTime, reason: reason ?? null, message: message ?? null } as Condition;
  }
}
