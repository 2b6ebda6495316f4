import type { ObservationReason, StartFailure, StartProgress } from '@slipway/contracts';
import type { LogLine } from './logs.js';

const TAIL_LINES = 40;
const LINE_LENGTH = 500;
/** How many of the last lines are searched for a cause. */
export const SEARCHED_LINES = 400;

interface Cause {
  cause: ObservationReason;
  /** Phrases in lower case. `*` in a phrase is any text. */
  phrases: readonly string[];
  remediation: string;
}

/** Messages of engines about why they cannot start. If a line matches two causes, the first in this list counts. */
const CAUSES: Cause[] = [
  {
    cause: 'kv_too_small',
    phrases: ["to serve at least one request with the model's max seq len"],
    remediation: 'Lower the context length to the value in the line, or give the engine more memory for its cache.',
  },
  {
    cause: 'gpu_memory',
    phrases: [
      'outofmemoryerror',
      'cuda out of memory',
      'cuda: out of memory',
      'cuda error out of memory',
      'cuda error: out of memory',
      'cudamalloc failed',
      'free memory on device * less than',
      'no available memory for the cache blocks',
      'not enough memory. please try to increase --mem-fraction',
      'failed to allocate *cuda* buffer',
      'failed to allocate *rocm* buffer',
      'failed to allocate *hip* buffer',
      'failed to allocate *vulkan* buffer',
      'failed to allocate *metal* buffer',
      'hiperroroutofmemory',
      'cuda_error_out_of_memory',
    ],
    remediation:
      'Use a device with more free memory, or lower the memory share, context length or batch size of the engine.',
  },
  {
    cause: 'driver',
    phrases: [
      'cuda driver version is insufficient',
      'no cuda-capable device',
      'nvidia driver on your system is too old',
      'found no nvidia driver',
      'driver/library version mismatch',
      'no kernel image is available',
      'libcuda.so* cannot',
    ],
    remediation: 'Fix the driver of the host, or use a build of the engine that is compatible with it.',
  },
  {
    cause: 'port_in_use',
    phrases: ['address already in use', 'eaddrinuse', "couldn't bind http server socket"],
    remediation:
      'No action is needed: the next start uses another port. If the error persists, another program uses a port that the template fixes.',
  },
  {
    cause: 'model_access',
    phrases: [
      'gated repo',
      'gatedrepoerror',
      '401 client error',
      '403 client error',
      'invalid user token',
      'awaiting a review from the repo authors',
    ],
    remediation:
      'Accept the licence of the model on the site that publishes it, and give the prefetch a token that can read the model.',
  },
  {
    cause: 'model_missing',
    phrases: [
      'repositorynotfounderror',
      'revisionnotfounderror',
      'entrynotfounderror',
      '404 client error',
      'is not a local folder and is not a valid model',
      'failed to open gguf',
      'gguf_init_from_file*failed',
      'error loading model: failed to open',
      'error loading model: *no such file',
      'no such file or directory*.gguf',
      'no such file or directory*.safetensors',
      'no such file or directory*.bin',
      'no such file or directory*.json',
      '.gguf*no such file or directory',
      '.safetensors*no such file or directory',
      '.bin*no such file or directory',
      '.json*no such file or directory',
      "couldn't find *model",
      "couldn't find *files",
      "couldn't connect to * to load *model",
      "couldn't connect to * to load *files",
    ],
    remediation: 'Check model.uri and model.revision: the host does not have the model, or not all of its files.',
  },
  {
    cause: 'bad_argument',
    phrases: [
      'unrecognized argument',
      'invalid argument:',
      'unexpected argument',
      'argument *: invalid',
      'argument *: expected',
      'error: unknown argument',
      'error: unknown option',
      'no such option',
      'the following arguments are required',
      'error while handling argument',
    ],
    remediation: 'Correct the argument that the line names, in the revision or in the template of the engine.',
  },
];

const REMEDIATIONS: Partial<Record<ObservationReason, string>> = {
  ...Object.fromEntries(CAUSES.map(({ cause, remediation }) => [cause, remediation])),
  program_not_found:
    'Install the program on the host, or correct command or path of the engine in the configuration of the target.',
  out_of_memory: 'Give the engine more host memory, or use a smaller model or cache.',
  lost: 'Read the last lines of the log: the engine ended while no worker was running that could record how.',
  health_path_missing: 'Correct ready.path of the engine: the server does not report its health at this path.',
  request_refused:
    'Correct what the message names: model.id, the key, or the path of the API. If the server cannot answer a request of its own accord, set probes.probe to list.',
  start_timeout: 'Raise timeout_seconds of the engine, or check the lines of its log for what it waits for.',
  model_missing: CAUSES.find(({ cause }) => cause === 'model_missing')!.remediation,
};
const UNKNOWN = 'Read the last lines of the log: they match no known cause.';

/** How the start ended, as far as it was observed. */
export interface StartEnd {
  code: number | null;
  signal: string | null;
  /** The cause, as far as the driver itself knows it. */
  known?: ObservationReason;
  /** The program's name in the template. */
  program?: string;
  /** Whether the kernel killed one of its processes for lack of memory. Absent if the kernel does not report it. */
  wasShortOfMemory?: boolean;
}

/**
 * Lines from the start script, or from the program that changes the user, about a program that could not be started.
 */
const NOT_STARTED = [
  ...['not found', 'permission denied', 'no such file', 'cannot execute', 'is a directory'].map(
    (why) => `slipway-start: *${why}`,
  ),
  'setpriv: failed to execute ',
];
/** Engines write some megabytes in one line. The message of an error is at the beginning of its line, or at its end. */
const [SEARCHED_HEAD, SEARCHED_TAIL] = [1_500, 500];
/** Of all lines together, so that many long ones do not hold the worker. */
const SEARCHED_CHARACTERS = 200_000;

/**
 * Why a start failed. Lines are oldest first. The search for a cause begins at the end, where the last line is often
 * only a consequence. The result never guesses a cause that no line shows.
 */
export function startFailure(end: StartEnd, lines: readonly LogLine[]): StartFailure {
  const texts = lines.map(({ text }) => text);
  const { cause, line } = causeOf(end, texts);
  return {
    cause,
    remediation: REMEDIATIONS[cause] ?? UNKNOWN,
    exit_code: end.code,
    signal: end.signal,
    ...(line === undefined ? {} : { line: shortened(line) }),
    log_tail: texts.slice(-TAIL_LINES).map(shortened),
  };
}

function causeOf(end: StartEnd, lines: readonly string[]): { cause: ObservationReason; line?: string } {
  if (end.known) return { cause: end.known, ...lastOf(lines) };
  const { code, signal, program } = end;
  const refused = lines.findLast((line) => {
    const text = searched(line);
    return NOT_STARTED.some((phrase) => isIn(text, phrase, true));
  });
  if ((code === 127 || code === 126) && refused !== undefined)
    return {
      cause: 'program_not_found',
      line: `${program ?? 'the program'} ${code === 127 ? 'was not found' : 'could not be executed'}`,
    };
  if (end.wasShortOfMemory) return { cause: 'out_of_memory', ...lastOf(lines) };
  let left = SEARCHED_CHARACTERS;
  for (const line of lines.toReversed()) {
    const text = searched(line);
    left -= text.length;
    if (left < 0) break;
    const found = CAUSES.find(({ phrases }) => phrases.some((phrase) => isIn(text, phrase)));
    if (found) return { cause: found.cause, line };
  }
  if (code === 127)
    return { cause: 'program_not_found', line: lines.at(-1) ?? `${program ?? 'the program'} was not found` };
  if (code === 2) return { cause: 'bad_argument', ...lastOf(lines) };
  // If the kernel does not count, only the kernel sends this signal: a stop of ours never gets here.
  if (signal === 'SIGKILL' && end.wasShortOfMemory === undefined) return { cause: 'out_of_memory', ...lastOf(lines) };
  if (signal !== null) return { cause: 'killed', ...lastOf(lines) };
  return { cause: code === null ? 'lost' : 'exited', ...lastOf(lines) };
}

/** The part of a line that is searched, in lower case. */
function searched(line: string): string {
  const part =
    line.length <= SEARCHED_HEAD + SEARCHED_TAIL
      ? line
      : `${line.slice(0, SEARCHED_HEAD)}\n${line.slice(line.length - SEARCHED_TAIL)}`;
  return part.toLowerCase();
}

/**
 * Whether a text contains a phrase. The first occurrence of each part after the previous one is enough, so each
 * character is looked at once, unlike with a pattern such as `/a.*b/`, which starts again at each `a`.
 */
function isIn(text: string, phrase: string, isAtStart = false): boolean {
  let from = 0;
  for (const [index, part] of phrase.split('*').entries()) {
    const at = text.indexOf(part, from);
    if (at < 0 || (isAtStart && index === 0 && at > 0)) return false;
    from = at + part.length;
  }
  return true;
}

function lastOf(lines: readonly string[]): { line?: string } {
  const line = lines.findLast((text) => text.trim() !== '');
  return line === undefined ? {} : { line };
}

function shortened(text: string): string {
  return text.length <= LINE_LENGTH ? text : `${text.slice(0, LINE_LENGTH - 1)}…`;
}

/**
 * The end of a line of tqdm, as huggingface_hub writes it: `model.safetensors:  45%|####  | 2.24G/4.98G [00:31<00:38,
 * 71.2MB/s]`. It is matched from the bar on.
 */
const BAR = /^\|[^|]*\| {0,9}([\d.]{1,20})([kMGT]?)B?\/ {0,9}([\d.]{1,20})([kMGT]?)B? {0,9}\[[^\]]*B\/s/;
const PERCENT = /(?::? {0,9}|^)\d{1,3}$/;
const UNITS: Record<string, number> = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** Progress of a download, from the last state of each of its files. Without bytes if its lines contain none. */
export function downloadProgress(lines: readonly LogLine[]): StartProgress {
  const files = new Map<string, [bytes: number, total: number]>();
  for (const { text } of lines) {
    const percent = text.indexOf('%|');
    const before = percent < 0 ? undefined : PERCENT.exec(text.slice(0, percent));
    const [, done, doneUnit, total, totalUnit] = (before && BAR.exec(text.slice(percent + 1))) ?? [];
    const file = [Number(done) * UNITS[doneUnit ?? '']!, Number(total) * UNITS[totalUnit ?? '']!] as [number, number];
    if (before && file.every(Number.isFinite)) files.set(text.slice(0, before.index).trim(), file);
  }
  if (files.size === 0) return { phase: 'downloading' };
  const sum = (index: 0 | 1) => Math.round([...files.values()].reduce((all, file) => all + file[index], 0));
  return { phase: 'downloading', bytes: sum(0), total_bytes: sum(1) };
}
