import type { StartFailure } from '@slipway/contracts';
import { startFailure, type Observation } from '@slipway/target-driver';
import { LRUCache } from 'lru-cache';
import type { Pod } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { lastWords, loggedPod } from './instance-log.js';
import { engineStatus, podIncarnation } from '../instances/pod-ends.js';

const SEARCHED_LINES = 200;
const MOST_KNOWN = 2_000;

/** The last output of an engine, read once for each of its failed lives. */
export class StartEvidence {
  private readonly known = new LRUCache<string, { incarnation: string; failure: Promise<StartFailure> }>({
    max: MOST_KNOWN,
  });

  /** Adds why the previous life failed, if the instance has not been ready since. */
  async add(
    api: Pick<KubeApi, 'log'>,
    instanceId: string,
    pod: Pod | undefined,
    seen: Observation,
    secrets: readonly string[],
  ): Promise<Observation> {
    const { state, restarts = 0, lastExit } = seen;
    if (state !== 'starting') this.known.delete(instanceId);
    const hasEnded = restarts > 0 || (lastExit !== undefined && seen.reason !== 'loading');
    if (state !== 'starting' || !pod || !lastExit || !hasEnded) return seen;
    const incarnation = podIncarnation(pod);
    const before = this.known.get(instanceId);
    if (before?.incarnation === incarnation) return { ...seen, failure: await before.failure };
    const failure = this.read(api, pod, lastExit, secrets);
    this.known.set(instanceId, { incarnation, failure });
    return { ...seen, failure: await failure };
  }

  forget(instanceId: string): void {
    this.known.delete(instanceId);
  }

  private async read(
    api: Pick<KubeApi, 'log'>,
    pod: Pod,
    { code, reason }: NonNullable<Observation['lastExit']>,
    secrets: readonly string[],
  ): Promise<StartFailure> {
    // Between its end and its next start, the ended life is the newest one.
    const isPrevious = engineStatus(pod)?.state?.terminated === undefined;
    const words = await lastWords(api, loggedPod(pod), { tail: SEARCHED_LINES, isPrevious, secrets });
    const isKnown = reason === 'out_of_memory' || reason === 'program_not_found' || reason === 'start_failed';
    return startFailure(
      { code, signal: null, wasShortOfMemory: false, ...(isKnown && { known: reason }) },
      words.map((text) => ({ stream: 'stdout', text })),
    );
  }
}
