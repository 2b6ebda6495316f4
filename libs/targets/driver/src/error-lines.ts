/**
 * Finds the line that says why a program ended, among the last lines that it wrote. Programs print a usage text before
 * or after that line, and often end with lines that only point to another one.
 */

/** The beginning of a line in which the mark of an error counts, and its longest end. A line may have megabytes. */
const [SEARCHED_HEAD, SEARCHED_TAIL] = [1_500, 500];
/** An error that many other lines follow was not the last one. Lines of a usage text do not count. */
const SEARCHED_FOR_ERRORS = 60;
const SEARCHED_FOR_CONSEQUENCES = 3 * SEARCHED_FOR_ERRORS;
/** How many lines before a usage text may have the error for which it was printed; the lines between them are tips. */
const BEFORE_USAGE = 8;

/** Parts of lines that only point to the error, or follow from it. In lower case, `*` is any text. */
const CONSEQUENCES = [
  'see root cause above',
  'engine core initialization failed',
  'for more information',
  'for further information',
  'for usage',
  ' validation error for ',
  ' validation errors for ',
  'traceback (most recent call last)',
  'the above exception was the direct cause',
  'during handling of the above exception',
  'run with `rust_backtrace',
  'note: run with',
  'stack backtrace',
  'exiting due to',
  'shutting down',
  'shutdown complete',
  'shard complete standard error',
  'shardcannotstart',
  'shard * failed to start',
  'received sigquit from a child process',
  'process exited',
  'resource_tracker',
  'leaked shared_memory',
  'leaked semaphore',
  'warnings.warn(',
  'destroy_process_group',
];

/** Parts of lines that say what went wrong. */
const ERRORS = [
  'error: ',
  'error:\t',
  'error loading',
  'value error, ',
  'exception: ',
  'fatal: ',
  'fatal error',
  'panic: ',
  'panicked at',
  'terminate called',
  'what(): ',
  'assertion',
  'provided but not defined',
  'unknown flag',
  'unknown shorthand flag',
  'unknown option',
  'unknown argument',
  'unrecognized option',
  'unrecognized argument',
  'required flag',
];
/**
 * Beginnings of such lines, as loggers write them, often after a time; the last is that of klog:
 * `E0131 10:00:00.123456`.
 */
const ERROR_START = /^(?:[\d\-t:.,z+[\] ]{0,40}(?:error|fatal|critical)[\] ]|level=error|[ef][01]\d[0-3]\d \d\d:)/;

/** The lines of a usage text: the index of its first line, and the index after its last one. */
interface UsageText {
  from: number;
  to: number;
}

/** The lines among which a cause may be searched, and the one that names it if no phrase is known. */
export interface ErrorLines {
  /** Indexes of the lines that are not part of a usage text, oldest first. */
  told: number[];
  /** The index of the line to show. Absent if no line has any text. */
  at?: number;
  /** The index of the first line of the usage text, if the program printed one. */
  usageAt?: number;
}

/** @param lines oldest first */
export function errorLines(lines: readonly string[]): ErrorLines {
  const usage = usageOf(lines);
  const told = lines.flatMap((line, index) =>
    line.trim() === '' || (usage && index >= usage.from && index < usage.to) ? [] : [index],
  );
  const at = lineToShow(lines, told, usage);
  return { told, ...(at === undefined ? {} : { at }), ...(usage && { usageAt: usage.from }) };
}

function lineToShow(lines: readonly string[], told: readonly number[], usage?: UsageText): number | undefined {
  const isBeforeUsage = (index: number) => index < usage!.from && index >= usage!.from - BEFORE_USAGE;
  const telling = tellingOf(lines, told);
  if (usage) {
    const after = lastError(
      lines,
      telling.filter((index) => index >= usage.to),
    );
    const shown = after ?? lastError(lines, telling.filter(isBeforeUsage));
    return shown === undefined ? usage.from : withCause(lines, shown);
  }
  const shown = lastError(lines, telling) ?? told.at(-1);
  return shown === undefined ? undefined : withCause(lines, shown);
}

/** The last lines that do not only point to others, oldest first. */
function tellingOf(lines: readonly string[], told: readonly number[]): number[] {
  const found: number[] = [];
  for (const index of told.slice(-SEARCHED_FOR_CONSEQUENCES).toReversed()) {
    if (found.length === SEARCHED_FOR_ERRORS) break;
    if (!isConsequence(lines[index]!)) found.push(index);
  }
  return found.reverse();
}

/** The last line with an error; the last of all if there is none. */
function lastError(lines: readonly string[], indexes: readonly number[]): number | undefined {
  return indexes.findLast((index) => isError(lines[index]!)) ?? indexes.at(-1);
}

/** Errors of Rust programs name the deepest cause last, in indented lines under "Caused by:". */
function withCause(lines: readonly string[], at: number): number {
  const head = lines.findIndex((line, index) => index >= at && line.trim() === 'Caused by:');
  if (head < 0 || lines.slice(at + 1, head).some((line) => line.trim() !== '')) return at;
  let deepest = at;
  for (let index = head + 1; index < lines.length && isIndented(lines[index]!); index += 1) deepest = index;
  return deepest;
}

/** The last usage text. It ends before the first line that is neither indented, nor an option, nor a heading. */
function usageOf(lines: readonly string[]): UsageText | undefined {
  const from = lines.findLastIndex((line) => /^\s{0,8}usage(?::| of [^\s:]{1,200}:)/i.test(line));
  if (from < 0) return undefined;
  const length = lines.slice(from + 1).findIndex((line) => !isOfUsage(line));
  return { from, to: length < 0 ? lines.length : from + 1 + length };
}

function isOfUsage(line: string): boolean {
  return line.trim() === '' || isIndented(line) || /^[-[({]/.test(line) || (line.length < 80 && line.endsWith(':'));
}

function isIndented(line: string): boolean {
  return /^[ \t]/.test(line);
}

function isConsequence(line: string): boolean {
  const text = searchedPart(line);
  return CONSEQUENCES.some((phrase) => findPhrase(text, phrase) >= 0);
}

function isError(line: string): boolean {
  const text = searchedPart(line);
  return ERRORS.some((mark) => text.includes(mark)) || ERROR_START.test(text);
}

/** The part of a line that is searched, in lower case. */
export function searchedPart(line: string): string {
  const part =
    line.length <= SEARCHED_HEAD + SEARCHED_TAIL
      ? line
      : `${line.slice(0, SEARCHED_HEAD)}\n${line.slice(line.length - SEARCHED_TAIL)}`;
  return part.toLowerCase();
}

/**
 * Where a phrase begins in a text, or -1. `*` in a phrase is any text. The first occurrence of each part after the
 * previous one is enough, so each character is looked at once, unlike with a pattern such as `/a.*b/`, which starts
 * again at each `a`.
 */
export function findPhrase(text: string, phrase: string): number {
  let from = 0;
  let start = -1;
  for (const part of phrase.split('*')) {
    const at = text.indexOf(part, from);
    if (at < 0) return -1;
    if (start < 0) start = at;
    from = at + part.length;
  }
  return start;
}
