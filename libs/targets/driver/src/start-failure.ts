import type { ObservationReason, StartFailure, StartProgress } from '@slipway/contracts';
import { errorLines, findPhrase, searchedPart, type ErrorLines } from './error-lines.js';
import type { LogLine } from './logs.js';

const TAIL_LINES = 40;
const LINE_LENGTH = 500;
/** How much of a line precedes the phrase that named the cause, if the phrase is far from the beginning. */
const BEFORE_PHRASE = 100;
/** Lines of a list that belong to an error which ends with a colon. */
const MOST_LISTED = 4;
/** How many of the last lines are searched for a cause. Usage texts of engines have up to 700 lines. */
export const SEARCHED_LINES = 1_000;

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
      // argparse, click
      'unrecognized argument',
      'argument *: invalid',
      'argument *: expected',
      'argument *: ignored explicit argument',
      'argument *: not allowed with',
      'ambiguous option: ',
      'the following arguments are required',
      'one of the arguments * is required',
      'no such option',
      'no such command',
      "error: invalid value for '-",
      "error: missing option '-",
      'error: got unexpected extra argument',
      // llama.cpp
      'invalid argument:',
      'error: unknown argument',
      'error while handling argument',
      'expected value for argument',
      // clap
      'unexpected argument',
      'error: unrecognized subcommand',
      'error: a value is required for',
      "error: invalid value '* for '-",
      'error: the following required arguments were not provided',
      "error: the argument '-* cannot be used",
      'error: found argument',
      // Go: flag, cobra
      'flag provided but not defined: -',
      'unknown flag: -',
      'error: unknown flag -',
      'unknown shorthand flag: ',
      'flag needs an argument: ',
      'invalid argument "* for "-',
      'invalid value "* for flag -',
      'invalid boolean value "* for -',
      'required flag(s) "',
      'error: unknown command "',
      // getopt, commander, yargs
      'unrecognized option ',
      'unknown option: ',
      "unknown option '-",
      'unknown command line flag ',
      'option requires an argument',
      "option '* requires an argument",
      'error: unknown option',
      "error: required option '-",
      "error: option '-",
      'unknown argument: ',
      'unknown arguments: ',
      '^ unknown argument',
    ],
    remediation: 'Correct the argument that the line names, in the revision or in the template of the engine.',
  },
];

/** Remediations on a host. */
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

/**
 * Remediations on a cluster, if they differ: there an engine has an image, a pod and a node, and the revision and the
 * operator's file name its memory.
 */
const POD_REMEDIATIONS: Partial<Record<ObservationReason, string>> = {
  kv_too_small:
    'Lower the context length to the value in the line, or use accelerators with more memory (resources.accelerator, resources.count).',
  gpu_memory:
    'Use accelerators with more memory (resources.accelerator, resources.count), or lower the memory share, context length or batch size of the engine.',
  driver: 'Fix the driver of the node, or use an image of the engine that is compatible with it.',
  port_in_use:
    'Correct port or pod of the engine in the configuration of the target: another container of its pod uses the port, or another pod of its node if pod.spec.hostNetwork is set.',
  model_access:
    'Accept the licence of the model on the site that publishes it, and give the engine a token that can read the model: a secret in runtime.env of the revision.',
  model_missing:
    'Check model.id, model.uri and model.revision, and the volumes in pod of the engine: the pod does not have the model, or not all of its files.',
  bad_argument:
    'Correct the argument that the line names: in runtime.args of the revision, or in command or args of the engine in the configuration of the target.',
  program_not_found:
    'Correct image or command of the engine in the configuration of the target: the image does not contain the program.',
  start_failed:
    'Correct image, command or pod of the engine in the configuration of the target: its node could not start the container.',
  out_of_memory:
    'Raise resources.memory_mb of the revision within allow.memory_mb of the engine, or resources.limits.memory of the engine in the configuration of the target. Or use a smaller model or cache.',
};

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
  /** The engine ran in a pod, so the remediation is in the terms of a cluster. By default those of a host. */
  isInPod?: boolean;
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
/** Of all lines together, so that many long ones do not hold the worker. */
const SEARCHED_CHARACTERS = 200_000;

/**
 * Why a start failed. Lines are oldest first. The search for a cause begins at the end, where the last line is often
 * only a consequence. The result never guesses a cause that no line shows.
 */
export function startFailure(end: StartEnd, lines: readonly LogLine[]): StartFailure {
  const texts = lines.map(({ text }) => text);
  const found = errorLines(texts);
  const { cause, line, at } = causeOf(end, texts, found);
  const remediation = (end.isInPod ? POD_REMEDIATIONS[cause] : undefined) ?? REMEDIATIONS[cause] ?? UNKNOWN;
  return {
    cause,
    remediation,
    exit_code: end.code,
    signal: end.signal,
    ...(line === undefined ? {} : { line }),
    log_tail: tailOf(texts, [found.usageAt, at]),
  };
}

interface FoundCause {
  cause: ObservationReason;
  line?: string;
  /** The index of the line. Absent if the line is ours. */
  at?: number;
}

function causeOf(end: StartEnd, lines: readonly string[], found: ErrorLines): FoundCause {
  const telling = found.at === undefined ? {} : { line: shownLine(lines, found.at), at: found.at };
  if (end.known) return { cause: end.known, ...lastOf(lines) };
  const { code, signal, program } = end;
  const refused = lines.findLast((line) => {
    const text = searchedPart(line);
    return NOT_STARTED.some((phrase) => findPhrase(text, phrase) === 0);
  });
  if ((code === 127 || code === 126) && refused !== undefined)
    return {
      cause: 'program_not_found',
      line: `${program ?? 'the program'} ${code === 127 ? 'was not found' : 'could not be executed'}`,
    };
  if (end.wasShortOfMemory) return { cause: 'out_of_memory', ...lastOf(lines) };
  const byPhrase = phraseIn(lines, found.told);
  if (byPhrase) return byPhrase;
  if (code === 127)
    return { cause: 'program_not_found', line: `${program ?? 'the program'} was not found`, ...telling };
  if (code === 2) return { cause: 'bad_argument', ...telling };
  // If the kernel does not count, only the kernel sends this signal: a stop of ours never gets here.
  if (signal === 'SIGKILL' && end.wasShortOfMemory === undefined) return { cause: 'out_of_memory', ...lastOf(lines) };
  if (signal !== null) return { cause: 'killed', ...telling };
  return { cause: code === null ? 'lost' : 'exited', ...telling };
}

/** The last line with a known phrase. A usage text is not searched, because it explains errors that did not happen. */
function phraseIn(lines: readonly string[], indexes: readonly number[]): FoundCause | undefined {
  let left = SEARCHED_CHARACTERS;
  for (const at of indexes.toReversed()) {
    const text = searchedPart(lines[at]!);
    left -= text.length;
    if (left < 0) return undefined;
    for (const { cause, phrases } of CAUSES) {
      const phrase = phrases.find((one) => findPhrase(text, one) >= 0);
      if (phrase !== undefined) return { cause, at, line: shownLine(lines, at, phrase) };
    }
  }
  return undefined;
}

/**
 * A line as it is shown: the part with the phrase if the line is long, and with the list that follows if the line ends
 * with a colon.
 */
function shownLine(lines: readonly string[], at: number, phrase?: string): string {
  const line = lines[at]!;
  if (line.length <= LINE_LENGTH) {
    if (!line.endsWith(':')) return line;
    const rest = lines.slice(at + 1, at + 1 + MOST_LISTED);
    const end = rest.findIndex((one) => !/^\s+\S/.test(one));
    return shortened([line, ...rest.slice(0, end < 0 ? rest.length : end).map((one) => one.trim())].join(' '));
  }
  const begins = phrase === undefined ? 0 : line.toLowerCase().lastIndexOf(phrase.split('*')[0]!);
  if (begins <= LINE_LENGTH - BEFORE_PHRASE) return shortened(line);
  return shortened(`…${line.slice(Math.min(begins - BEFORE_PHRASE, line.length - LINE_LENGTH + 1))}`);
}

/** The last lines. Earlier ones that matter are before them, each cut; the result has no more lines than otherwise. */
function tailOf(lines: readonly string[], indexes: readonly (number | undefined)[]): string[] {
  const isEarlier = (index: number | undefined): index is number =>
    index !== undefined && index < lines.length - TAIL_LINES;
  const earlier = [...new Set(indexes.filter(isEarlier))].sort((one, other) => one - other);
  if (earlier.length === 0) return lines.slice(-TAIL_LINES).map(shortened);
  const tail = lines.slice(earlier.length + 1 - TAIL_LINES);
  const omitted = lines.length - tail.length - earlier.length;
  return [...earlier.map((index) => lines[index]!), `… (${omitted} lines omitted)`, ...tail].map(shortened);
}

function lastOf(lines: readonly string[]): { line?: string } {
  const line = lines.findLast((text) => text.trim() !== '');
  return line === undefined ? {} : { line: shortened(line) };
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
