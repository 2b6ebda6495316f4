/** A step that a reader types at once: a line or a block of a shell, or the command of one row of a table. */
export interface PageStep {
  name: string;
  text: string;
  /** The output of the command according to the row; not set for a block. */
  returns?: string;
}

export interface Page {
  steps: PageStep[];
  /** Every line that npm or nx runs, in blocks and in the text. */
  packageCommands: string[];
  yaml: string[];
}

const ROW = /^\| (\d+) \| ([^|]+) \| `([^`]+)` \| (.+) \|$/gm;
const BLOCK = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;
const isPackageCommand = (line: string): boolean => /^(?:npm|npx nx) /.test(line);

/**
 * Splits a page into its steps, in order. It skips blocks that say `no-run`, and blocks of npm's commands, which build,
 * install or test this repository. A page that uses the command `slipway` is typed line by line, because each line has
 * an exit status.
 */
export function readPage(file: string, markdown: string): Page {
  const blocks = [...markdown.matchAll(BLOCK)].map(({ index, 1: language, 2: info, 3: text }) => ({
    index,
    language,
    text: text as string,
    isRun: !info?.includes('no-run:'),
  }));
  const other = blocks.find(({ language = '', isRun }) => isRun && /^(?:bash|zsh|fish|shell|console)$/.test(language));
  if (other) throw new Error(`${file}: a block of ${other.language} is not typed; write it for sh`);
  const shell = blocks.filter(({ language, isRun }) => language === 'sh' && isRun);
  const typed = shell
    .filter(({ text }) => !isPackageCommand(text))
    .flatMap(({ index, text }, position) =>
      (usesCommand(markdown) ? logicalLines(text) : [text]).map((line, at) => ({
        index: index + at,
        name: `${file}, block ${position + 1}`,
        text: line,
      })),
    );
  const rows = [...markdown.matchAll(ROW)].map(({ index, 1: number, 2: operation, 3: text, 4: returns }) => ({
    index,
    name: `row ${number}, ${operation}`,
    text: `${text}\n`,
    returns: returns as string,
  }));
  const inline = [...markdown.matchAll(/`((?:npm|npx nx) [^`]+)`/g)].map(([, command]) => command as string);
  return {
    steps: [...typed, ...rows].sort((a, b) => a.index - b.index).map(({ index: _, ...step }) => step),
    packageCommands: [...shell.flatMap(({ text }) => text.split('\n').filter(isPackageCommand)), ...inline],
    yaml: blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text),
  };
}

const usesCommand = (text: string): boolean => text.includes('npx slipway');

/**
 * The lines of a block as a shell reads them: a line continues if it ends with a backslash, or within quotation marks
 * or a function.
 */
function logicalLines(block: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of block.split('\n')) {
    open += `${line}\n`;
    const isWhole =
      !line.endsWith('\\') &&
      (open.replace(/"[^"]*"/g, '').match(/'/g) ?? []).length % 2 === 0 &&
      (open.match(/\{$/gm) ?? []).length === (open.match(/^\}/gm) ?? []).length;
    if (!isWhole) continue;
    if (open.trim()) lines.push(open);
    open = '';
  }
  return lines;
}

/** The output of one step. */
export interface StepOutput {
  stdout: string;
  stderr: string;
  /** The exit status of its last command. */
  status: number;
}

/** Every difference between the result of a step and its page, as sentences. */
export function complaintsAbout(step: PageStep, printed: StepOutput): string[] {
  return printed.stderr.includes('HTTP ') || step.returns || isOfHelpers(step)
    ? complaintsAboutCalls(step, printed)
    : complaintsAboutLine(step, printed);
}

/** A step that defines or uses `call`, `pick` and `await` of the API tour. */
const isOfHelpers = ({ text }: PageStep): boolean => /^(?:call|await|propose)\b|^call\(\)/m.test(text);

/**
 * The command `slipway` and a server write progress to stderr. So only the exit status and an error in a response
 * count.
 */
function complaintsAboutLine({ name, text }: PageStep, { stdout, stderr, status }: StepOutput): string[] {
  const line = text.trim().split('\n')[0];
  return [
    ...(status === 0 ? [] : [`${name}: \`${line}\` exited with ${status}: ${stderr.trim()}`]),
    ...(/^\{"error":/m.test(stdout) ? [`${name}: \`${line}\` returned ${stdout.trim()}`] : []),
    ...(status === 0 && /command not found|syntax error|parse error|Unterminated/i.test(stderr)
      ? [`${name} printed: ${stderr.trim()}`]
      : []),
  ];
}

function complaintsAboutCalls(step: PageStep, printed: StepOutput): string[] {
  const statuses = [...printed.stderr.matchAll(/^HTTP (\d+)$/gm)].map(([, status]) => Number(status));
  // A shell prints the number of a background job; all other output is a complaint.
  const said = printed.stderr.replace(/^(HTTP \d+|\[\d+\].*)$/gm, '').trim();
  const complaints = [
    ...statuses.filter((status) => status < 200 || status > 299).map((status) => `was answered ${status}`),
    ...(said ? [`printed: ${said}`] : []),
    ...(step.returns
      ? complaintsAboutRow(step.returns, statuses, printed.stdout)
      : complaintsAboutBlock(step.text, statuses, printed.stdout)),
  ];
  return complaints.map((complaint) => `${step.name} ${complaint}`);
}

function complaintsAboutRow(returns: string, statuses: number[], stdout: string): string[] {
  const printed = stdout.trim().split('\n');
  const last = printed.at(-1)?.trim() ?? '';
  const wantedStatuses = [...returns.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => Number(status));
  const given = statuses.slice(-wantedStatuses.length);
  const fields = [...returns.matchAll(/`([^`]+)` is `([^`]+)`/g)].map(
    ([, name, value]) => [name, value] as [string, string],
  );
  const ends = [...returns.matchAll(/finally `([^`]+)`/g)].map(([, end]) => end as string);
  if (wantedStatuses.length === 0 || fields.length + ends.length === 0) return ['says nothing that can be compared'];
  return [
    ...(given.join() === wantedStatuses.join() ? [] : [`ends with the statuses ${given.join()}`]),
    ...fields
      .filter(([name, value]) => fieldOf(last, name) !== value)
      .map(([name]) => `has ${name} ${fieldOf(last, name)}`),
    ...ends.filter((end) => !last.startsWith(end)).map(() => `ends with: ${last}`),
  ];
}

/**
 * Each request of a block must have been answered with success, and each operation that it awaits must have succeeded.
 */
function complaintsAboutBlock(text: string, statuses: number[], stdout: string): string[] {
  const calls = text.match(/^(call|await|[A-Z]+=\$\((new|person|call)) .*/gm) ?? [];
  const awaited = calls.filter((line) => line.startsWith('await '));
  const succeeded = stdout.match(/^\w+ succeeded\b/gm) ?? [];
  return [
    ...(statuses.length === calls.length
      ? []
      : [`calls ${calls.length} times and was answered ${statuses.length} times`]),
    ...(succeeded.length === awaited.length
      ? []
      : [`awaits ${awaited.length} operations, and ${succeeded.length} succeeded`]),
  ];
}

function fieldOf(json: string, name: string): string {
  try {
    const value = name.split('.').reduce((at, key) => at?.[key], JSON.parse(json));
    return String(value);
  } catch {
    return `(no JSON: ${json})`;
  }
}
