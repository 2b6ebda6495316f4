import { setTimeout as sleep } from 'node:timers/promises';
import { timeLimit } from '@slipway/contracts';
import { LineReader, type LogLine, type LogOptions } from '@slipway/target-driver';
import { ApiError } from '../api/errors.js';
import type { KubeApi, PodLogOptions } from '../api/requests.js';
import type { Pod } from '../api/objects.js';
import { podIncarnation } from '../instances/pod-ends.js';
import { ENGINE_CONTAINER } from '../manifests/unit-kind.js';

/** The pod whose engine writes, and the life of the engine. */
export interface LoggedPod {
  namespace: string;
  name: string;
  incarnation: string;
}

export function loggedPod(pod: Pod): LoggedPod {
  const { name, namespace = '' } = pod.metadata;
  return { namespace, name, incarnation: podIncarnation(pod) };
}

/** The pause before the next request for a log that has ended or does not exist yet. */
const FOLLOW_MS = 500;
const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z ?(.*)$/s;

/**
 * The output of an instance's engine, from the API server. Kubernetes does not report the stream of a line, so a
 * request for one stream returns all lines. Of a long line only the beginning is kept.
 *
 * @throws ApiError, UnreachableError if the API server does not return the output
 */
export async function* instanceLog(
  api: Pick<KubeApi, 'log'>,
  find: () => LoggedPod | undefined,
  options: LogOptions,
  secrets: readonly string[],
): AsyncGenerator<LogLine> {
  const { tail, since, previous, follow, signal } = options;
  let shown: LogPosition | undefined;
  do {
    const pod = find();
    const isAnother = pod?.incarnation !== shown?.incarnation;
    if (pod) {
      const isFirst = shown === undefined;
      if (!shown || isAnother) shown = { incarnation: pod.incarnation, atLast: 0 };
      const from = shown.last ?? (isFirst ? since : undefined);
      const asked: PodLogOptions = {
        container: ENGINE_CONTAINER,
        timestamps: true,
        signal,
        ...(isFirst ? { tailLines: tail } : {}),
        ...(from === undefined ? {} : { sinceTime: from }),
        ...(previous ? { previous } : follow ? { follow } : {}),
      };
      const isTold = toldBefore(shown, isFirst ? since : undefined);
      for await (const { stamp, text } of lines(api, pod, asked, secrets)) {
        if (stamp !== undefined && isTold(stamp)) continue;
        if (stamp !== undefined) note(shown, stamp);
        yield {
          stream: options.stream === 'stderr' ? 'stderr' : 'stdout',
          ...(stamp === undefined ? {} : { at: stamp }),
          text,
        };
      }
    }
    if (follow && !previous) await sleep(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
  } while (follow && !previous && !signal.aborted);
}

export interface LastWordsOptions {
  container: string;
  tail: number;
  isPrevious: boolean;
  secrets: readonly string[];
}

/** The last lines of an ended life of a container, as evidence of a failed start; none if they cannot be read. */
export async function lastWords(
  api: Pick<KubeApi, 'log'>,
  pod: LoggedPod,
  { container, tail, isPrevious, secrets }: LastWordsOptions,
): Promise<string[]> {
  const { signal, stop } = timeLimit(LAST_WORDS_MS);
  const found: string[] = [];
  const options = { container, timestamps: true, tailLines: tail, previous: isPrevious, signal };
  try {
    for await (const { text } of lines(api, pod, { ...options, limitBytes: LAST_WORDS_BYTES }, secrets)) {
      found.push(text);
      if (found.length > 2 * tail) found.splice(0, tail);
    }
  } catch {
    // The failure is known without these lines.
  } finally {
    stop();
  }
  return found.slice(-tail);
}

const LAST_WORDS_MS = 5_000;
/** The server cuts the end, which matters most. So this is more than a kubelet keeps in one file of a log. */
const LAST_WORDS_BYTES = 16 * 1024 * 1024;

interface StampedLine {
  /** With nine digits after the point, so that two stamps can be compared as texts. */
  stamp?: string;
  text: string;
}

async function* lines(
  api: Pick<KubeApi, 'log'>,
  { namespace, name }: LoggedPod,
  options: PodLogOptions,
  secrets: readonly string[],
): AsyncGenerator<StampedLine> {
  const reader = new LineReader(secrets);
  try {
    for await (const chunk of await api.log(namespace, name, options))
      for (const { text } of reader.push(chunk)) yield stamped(text);
  } catch (error) {
    if (!isUnwritten(error) && !options.signal?.aborted) throw error;
  }
  const rest = reader.rest();
  if (rest !== undefined) yield stamped(rest);
}

/** The pod was just deleted, its container has not started, or there was none before it. */
function isUnwritten(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 400);
}

function stamped(line: string): StampedLine {
  const [, second, fraction = '', text] = STAMPED.exec(line) ?? [];
  if (second === undefined) return { text: line };
  return { stamp: `${second}.${fraction.padEnd(9, '0')}Z`, text: text ?? '' };
}

/** How far the output of one life was returned: the time of the last line, and how many lines had that time. */
interface LogPosition {
  incarnation: string;
  last?: string;
  atLast: number;
}

function note(shown: LogPosition, stamp: string): void {
  shown.atLast = stamp === shown.last ? shown.atLast + 1 : 1;
  shown.last = stamp;
}

/**
 * Recognizes lines of a new answer that were returned before. The server counts in whole seconds, so it repeats some
 * lines. Many lines may have the same time.
 */
function toldBefore({ last, atLast }: LogPosition, since: string | undefined): (stamp: string) => boolean {
  let again = atLast;
  return (stamp) => {
    if (last === undefined) return since !== undefined && Date.parse(stamp) < Date.parse(since);
    if (stamp === last && again > 0) {
      again -= 1;
      return true;
    }
    return stamp < last;
  };
}
