import type { StartFailure } from '@slipway/contracts';
import { redactSecrets, SEARCHED_LINES, startFailure, type Observation } from '@slipway/target-driver';
import { LRUCache } from 'lru-cache';
import type { ContainerStatus, Pod } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { lastWords, loggedPod } from './instance-log.js';
import { endWords, engineStatus, MAX_MESSAGE, initStatuses, podIncarnation } from '../instances/pod-ends.js';
import { ENGINE_CONTAINER } from '../manifests/unit-kind.js';
import type { Amounts } from '../manifests/unit-resources.js';

/** The message of an engine that ended by itself begins like this. */
const ENDED = 'the engine ended ';
const MOST_KNOWN = 2_000;

/** The last output of an engine, read once for each of its failed lives. */
export class StartEvidence {
  private readonly known = new LRUCache<string, { incarnation: string; failure: Promise<StartFailure> }>({
    max: MOST_KNOWN,
  });

  /**
   * Adds why the previous life failed, if the instance has not been ready since. The message of the cluster may quote
   * the engine, so secrets are removed from it too.
   */
  async add(
    api: Pick<KubeApi, 'log'>,
    instanceId: string,
    pod: Pod | undefined,
    observation: Observation,
    secrets: readonly string[],
  ): Promise<Observation> {
    const { message } = observation;
    const seen =
      message === undefined
        ? observation
        : { ...observation, message: redactSecrets(message, secrets, message.length >= MAX_MESSAGE) };
    const { state, restarts = 0, lastExit } = seen;
    if (state !== 'starting') this.known.delete(instanceId);
    const hasEnded = restarts > 0 || (lastExit !== undefined && seen.reason !== 'loading');
    if (state !== 'starting' || !pod || !lastExit || !hasEnded) return seen;
    const incarnation = podIncarnation(pod);
    const before = this.known.get(instanceId);
    if (before?.incarnation === incarnation) return withFailure(seen, await before.failure);
    const failure = this.read(api, pod, seen, secrets);
    this.known.set(instanceId, { incarnation, failure });
    return withFailure(seen, await failure);
  }

  forget(instanceId: string): void {
    this.known.delete(instanceId);
  }

  private async read(
    api: Pick<KubeApi, 'log'>,
    pod: Pod,
    { lastExit, reason: seen }: Observation,
    secrets: readonly string[],
  ): Promise<StartFailure> {
    const { code = null, reason } = lastExit ?? {};
    const status = (seen === 'init_failed' ? failedInit(pod) : undefined) ?? engineStatus(pod);
    // Between its end and its next start, the ended life is the newest one.
    const isPrevious = status?.state?.terminated === undefined;
    const container = status?.name ?? ENGINE_CONTAINER;
    const words = await lastWords(api, loggedPod(pod), { container, tail: SEARCHED_LINES, isPrevious, secrets });
    const isKnown = reason === 'out_of_memory' || reason === 'program_not_found' || reason === 'start_failed';
    const failure = startFailure(
      { code, signal: null, wasShortOfMemory: false, isInPod: true, ...(isKnown && { known: reason }) },
      words.map((text) => ({ stream: 'stdout', text })),
    );
    if (failure.cause !== 'out_of_memory') return failure;
    return { ...failure, remediation: `${memoryOf(pod, container)} ${failure.remediation}` };
  }
}

/** The log has more lines than the message of the kubelet, so it may name the cause that the message lost. */
function withFailure(seen: Observation, failure: StartFailure): Observation {
  const { message, lastExit } = seen;
  const { line, exit_code: code } = failure;
  if (line === undefined || !lastExit || !message?.startsWith(ENDED)) return { ...seen, failure };
  return { ...seen, message: endWords('the engine', { ...lastExit, code, words: line }), failure };
}

function failedInit(pod: Pod): ContainerStatus | undefined {
  return initStatuses(pod).find(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.exitCode);
}

/** The memory that the container could use, in the terms of its pod. */
function memoryOf(pod: Pod, name: string): string {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const container = [...containers, ...initContainers].find((one) => one.name === name);
  const limit = (container?.resources as Amounts | undefined)?.limits?.['memory'];
  return limit === undefined
    ? `Container ${name} has no memory limit, so its node was short of memory.`
    : `Container ${name} has a memory limit of ${limit}.`;
}
