/** What README.md gives its reader to type at once: a fenced block, or the command of one row of a table. */
export interface ReadmeStep {
  name: string;
  text: string;
  /** What the row says that the command answers; a block says nothing. */
  answers?: string;
}

export interface Readme {
  steps: ReadmeStep[];
  /** Every line that npm or npx runs, in blocks and in the text. */
  packageCommands: string[];
  yaml: string[];
  /** Paths of this repository. */
  links: string[];
}

const ROW = /^\| (\d+) \| ([^|]+) \| `([^`]+)` \| (.+) \|$/gm;
const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;
const isPackageCommand = (line: string): boolean => /^np[mx] /.test(line);

/** Takes README.md apart, in its order. A block of npm's commands is not among the steps: those build, install or test this repository. */
export function readReadme(markdown: string): Readme {
  const blocks = [...markdown.matchAll(BLOCK)].map(({ index, 1: language, 2: text }) => ({ index, language, text }));
  const shell = blocks.filter(({ language }) => language === 'sh');
  const typed = shell
    .filter(({ text }) => !isPackageCommand(text as string))
    .map(({ index, text }, position) => ({ index, name: `block ${position + 1}`, text: text as string }));
  const rows = [...markdown.matchAll(ROW)].map(({ index, 1: number, 2: operation, 3: text, 4: answers }) => ({
    index,
    name: `row ${number}, ${operation}`,
    text: `${text}\n`,
    answers: answers as string,
  }));
  const inline = [...markdown.matchAll(/`(np[mx] [^`]+)`/g)].map(([, command]) => command as string);
  const links = [...markdown.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
  return {
    links,
    steps: [...typed, ...rows].sort((a, b) => a.index - b.index).map(({ index: _, ...step }) => step),
    packageCommands: [...shell.flatMap(({ text }) => (text as string).split('\n').filter(isPackageCommand)), ...inline],
    yaml: blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text as string),
  };
}

/** What typing one step printed. */
export interface StepOutput {
  stdout: string;
  stderr: string;
}

/** What is not as README.md says it, in words; empty where all is. */
export function complaintsAbout(step: ReadmeStep, printed: StepOutput): string[] {
  const statuses = [...printed.stderr.matchAll(/^HTTP (\d+)$/gm)].map(([, status]) => Number(status));
  // A shell tells where it put a job; all else that it says is a complaint.
  const said = printed.stderr.replace(/^(HTTP \d+|\[\d+\].*)$/gm, '').trim();
  const complaints = [
    ...statuses.filter((status) => status < 200 || status > 299).map((status) => `was answered ${status}`),
    ...(said ? [`was told: ${said}`] : []),
    ...(step.answers
      ? complaintsAboutRow(step.answers, statuses, printed.stdout)
      : complaintsAboutBlock(step.text, statuses, printed.stdout)),
  ];
  return complaints.map((complaint) => `${step.name} ${complaint}`);
}

function complaintsAboutRow(answers: string, statuses: number[], stdout: string): string[] {
  const printed = stdout.trim().split('\n');
  const last = printed.at(-1)?.trim() ?? '';
  const wantedStatuses = [...answers.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => Number(status));
  const given = statuses.slice(-wantedStatuses.length);
  const fields = [...answers.matchAll(/`([^`]+)` is `([^`]+)`/g)].map(
    ([, name, value]) => [name, value] as [string, string],
  );
  const ends = [...answers.matchAll(/at last `([^`]+)`/g)].map(([, end]) => end as string);
  if (wantedStatuses.length === 0 || fields.length + ends.length === 0) return ['says nothing that can be compared'];
  return [
    ...(given.join() === wantedStatuses.join() ? [] : [`ends with the statuses ${given.join()}`]),
    ...fields
      .filter(([name, value]) => fieldOf(last, name) !== value)
      .map(([name]) => `has ${name} ${fieldOf(last, name)}`),
    ...ends.filter((end) => !last.startsWith(end)).map(() => `ends with: ${last}`),
  ];
}

/** Each line of a block that calls must have been answered, and each operation that it awaits must have succeeded. */
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
