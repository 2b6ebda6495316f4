import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../client.js';
import type { ContainerSpec, Pod } from '../objects.js';
import { ContainerRun, now, type ContainerEnd } from './container-run.js';
import { argvOf, ConfigError, environmentOf } from './environment.js';
import { commandLine, isImageReference, nameOfImage, type Image } from './images.js';
import type { Pace } from './pace.js';
import { probe } from './probes.js';

/** The parts of its pod and node that a container needs. */
export interface ContainerHost {
  readonly client: KubeClient;
  readonly pod: Pod;
  readonly address: string;
  readonly pace: Pace;
  imageOf(name: string): Image | undefined;
  changed(): void;
}

type State =
  { waiting: { reason: string; message?: string } } | { running: { startedAt: string } } | { terminated: ContainerEnd };

/** A container from the pull of its image to its last end, with every restart. */
export class ContainerLife {
  private state: State = { waiting: { reason: 'ContainerCreating' } };
  private last?: ContainerEnd;
  private restarts = 0;
  private isStarted = false;
  private isReady = false;
  private run?: ContainerRun;
  private previous?: ContainerRun;
  private readonly stopped = new AbortController();
  private backOffMs = 0;
  /** Settles when the container will not run again. */
  readonly over: Promise<void>;

  constructor(
    readonly spec: ContainerSpec,
    private readonly host: ContainerHost,
    private readonly restartsAfter: (end: ContainerEnd) => boolean,
  ) {
    this.over = this.live().catch((error: unknown) => {
      if (!this.stopped.signal.aborted) throw error;
    });
  }

  /** The container status as in the pod's status. */
  status(): Record<string, unknown> & { ready: boolean } {
    return {
      name: this.spec.name,
      image: this.spec.image,
      imageID: this.run ? `testbed://${nameOfImage(this.spec.image)}` : '',
      ...(this.run ? { containerID: this.run.containerID } : {}),
      state: this.state,
      lastState: this.last ? { terminated: this.last } : {},
      restartCount: this.restarts,
      started: this.isStarted,
      ready: this.isReady,
    };
  }

  get hasBegun(): boolean {
    return this.run !== undefined;
  }

  /** The final end of the container, if it has ended. */
  get end(): ContainerEnd | undefined {
    return 'terminated' in this.state ? this.state.terminated : undefined;
  }

  get current(): ContainerRun | undefined {
    return this.run;
  }

  get before(): ContainerRun | undefined {
    return this.previous;
  }

  /** Runs preStop, then sends SIGTERM, and SIGKILL after the grace period, which includes preStop. */
  async stop(graceSeconds: number): Promise<void> {
    const { graceSecondMs } = this.host.pace;
    const pauseSeconds = Math.min(this.spec.lifecycle?.preStop?.sleep?.seconds ?? 0, graceSeconds);
    // It does not start again in the meantime; a running process continues until the signal.
    this.stopped.abort();
    if (this.run?.pid !== undefined) {
      await Promise.race([delay(pauseSeconds * graceSecondMs, undefined, { ref: false }), this.run.ended]);
      await this.run.stop((graceSeconds - pauseSeconds) * graceSecondMs);
    }
    await this.over;
  }

  /** Ends the process at once, because the pod or the node is gone. */
  async kill(): Promise<void> {
    this.stopped.abort();
    this.run?.kill();
    await this.over;
  }

  private async live(): Promise<void> {
    const { signal } = this.stopped;
    for (;;) {
      const image = await this.untilPulled(signal);
      const values = await this.untilConfigured(signal);
      const run = this.begin(image, values);
      const probing = new AbortController();
      const probed = this.probe(run, probing.signal);
      const end = await run.ended;
      probing.abort();
      await probed;
      this.isReady = false;
      this.isStarted = false;
      this.set({ terminated: end });
      if (signal.aborted || !this.restartsAfter(end)) return;
      await this.backOff(end, signal);
    }
  }

  private begin(image: Image, values: Record<string, string>): ContainerRun {
    const argv = argvOf(this.spec, values);
    const hasCommand = (this.spec.command?.length ?? 0) > 0;
    if (this.run) {
      this.restarts += 1;
      this.last = this.end ?? this.last;
      this.previous = this.run;
    }
    this.run = new ContainerRun(commandLine(image, argv, hasCommand, this.host.address), values, image);
    this.set({ running: { startedAt: now() } });
    return this.run;
  }

  private probe(run: ContainerRun, signal: AbortSignal): Promise<void> {
    const { address, pace, pod } = this.host;
    const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * pace.graceSecondMs;
    return probe(
      this.spec,
      address,
      pace,
      {
        onStarted: () => {
          this.isStarted = true;
          this.host.changed();
        },
        onReady: (isReady) => {
          if (this.isReady === isReady) return;
          this.isReady = isReady;
          this.host.changed();
        },
        onHopeless: () => void run.stop(graceMs),
      },
      signal,
    );
  }

  private async untilPulled(signal: AbortSignal): Promise<Image> {
    const { image: reference } = this.spec;
    const name = nameOfImage(reference);
    for (let tries = 0; ; tries += 1) {
      const image = this.host.imageOf(name);
      if (image && image.pull !== 'never') {
        if (image.pull && !this.run) await delay(image.pull.afterMs, undefined, { signal });
        return image;
      }
      const why = `failed to resolve reference "${reference}": not found`;
      const waiting = !isImageReference(reference)
        ? {
            reason: 'InvalidImageName',
            message: `Failed to apply default image tag "${reference}": couldn't parse image name`,
          }
        : tries % 2 === 0
          ? { reason: 'ErrImagePull', message: why }
          : { reason: 'ImagePullBackOff', message: `Back-off pulling image "${reference}": ErrImagePull: ${why}` };
      this.wait(waiting);
      await delay(this.host.pace.retryMs * 2 ** Math.min(tries, 5), undefined, { signal });
    }
  }

  private async untilConfigured(signal: AbortSignal): Promise<Record<string, string>> {
    const { client, pod, address, pace } = this.host;
    for (;;) {
      try {
        return await environmentOf(client, pod, this.spec, address);
      } catch (error) {
        // Any other error means that the API server is temporarily unavailable.
        if (error instanceof ConfigError) this.wait({ reason: 'CreateContainerConfigError', message: error.message });
      }
      await delay(pace.retryMs, undefined, { signal });
    }
  }

  /** The first restart is immediate, as with a real kubelet. */
  private async backOff(end: ContainerEnd, signal: AbortSignal): Promise<void> {
    const { first, most } = this.host.pace.backOffMs;
    const waitMs = this.backOffMs;
    this.backOffMs = Math.min(most, Math.max(first, waitMs * 2));
    if (waitMs === 0) return;
    const { name, namespace, uid } = this.host.pod.metadata;
    const message = `back-off ${(waitMs / first) * 10}s restarting failed container=${this.spec.name} pod=${name}_${namespace}(${uid})`;
    this.last = end;
    this.wait({ reason: 'CrashLoopBackOff', message });
    await delay(waitMs, undefined, { signal });
  }

  private wait(waiting: { reason: string; message?: string }): void {
    this.set({ waiting });
  }

  private set(state: State): void {
    this.state = state;
    this.host.changed();
  }
}
