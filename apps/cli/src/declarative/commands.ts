import { CommanderError, Option, type Command } from 'commander';
import { ALLOW_UNKNOWN } from '../nouns/flags.js';
import { CliError, EXIT, exitCodeOf } from '../exit-codes.js';
import { failureLines } from '../failure-lines.js';
import { deploymentNameOf } from '../habits.js';
import { filesOf, readText } from '../input-files.js';
import type { Session } from '../session.js';
import { harmless, painted, type Colour } from '../terminal.js';
import type { View } from '../table.js';
import type { ApplyResult } from './applying.js';
import type { LocatedManifest } from './manifest.js';
import type { Plan } from './plan.js';
import type { ServerState } from './server-state.js';

const APPLIED: View = {
  name: 'name',
  columns: [
    { title: 'NAME', of: 'name' },
    { title: 'OUTCOME', of: 'outcome' },
    { title: 'CHANGES', of: ({ changes }: ApplyResult) => changes.join(', ') },
    { title: 'REVISION', of: 'revision' },
    { title: 'OPERATION', of: 'operation_id' },
  ],
};
const PLANNED: View = {
  name: 'name',
  columns: [
    { title: 'NAME', of: 'name' },
    { title: 'CHANGES', of: ({ changes }: PlanResult) => changes.map(({ kind }) => kind).join(', ') },
  ],
};

/** The form for programs. */
const plannedOf = ({ name, changes, inPlace, underWay }: Plan) => ({
  name,
  changes: changes.map(({ kind, differences }) => ({ kind, differences })),
  revision: inPlace?.name ?? null,
  operation_id: underWay ?? null,
});
type PlanResult = ReturnType<typeof plannedOf>;

const COLOURS: Record<string, Colour> = { '  +': 'green', '  -': 'red', '  ~': 'yellow' };

interface Flags {
  file: string[];
  dryRun?: 'client' | 'server' | true;
  wait: boolean;
  timeout?: string;
  allowUnknown?: boolean;
}

/** `apply`, `diff`, `export`, `schema`: deployments as files. */
export function declarative(program: Command, session: Session): void {
  const files = () =>
    new Option(
      '-f, --file <file>',
      'YAML or JSON file with deployments, or a folder of them; - reads stdin; repeatable',
    )
      .argParser((file: string, before: string[] | undefined) => [...(before ?? []), file])
      .makeOptionMandatory();

  program
    .command('apply')
    .summary('Create or update deployments to match files')
    .description(
      'Create or update deployments to match files. Omitted fields do not change; a second run changes nothing.',
    )
    .addOption(files())
    .addOption(
      new Option(
        '--dry-run [where]',
        'change nothing: `client` shows the changes, `server` also validates them on the server',
      )
        .choices(['client', 'server'])
        .preset('client'),
    )
    .addOption(
      new Option('--wait [boolean]', 'wait until rollouts end or need a person; --wait=false does not wait')
        .choices(['true', 'false'])
        .argParser((text) => text !== 'false')
        .default(true),
    )
    .option(
      '--timeout <time>',
      'how long to wait for each rollout, such as 90s or 10m; it continues after that (default: 1h)',
    )
    .option('--allow-unknown', ALLOW_UNKNOWN)
    .addHelpText('after', '\nExamples:\n  slipway apply -f chat.yaml\n  slipway apply -f chat.yaml --dry-run=server')
    .action((flags: Flags) => runApply(session, flags));

  program
    .command('diff')
    .summary('Show what apply would change')
    .description('Show what apply would change. Exit code 0: no changes, 1: changes, higher: the comparison failed')
    .addOption(files())
    .option('--allow-unknown', ALLOW_UNKNOWN)
    .exitOverride((error) => {
      // The exit code 1 is reserved for differences.
      throw error.exitCode === 0 ? error : new CommanderError(EXIT.cancelled, error.code, error.message);
    })
    .addHelpText('after', '\nExamples:\n  slipway diff -f chat.yaml')
    .exitOverride((error) => {
      if (error.exitCode === EXIT.failed) error.exitCode = EXIT.cancelled;
      throw error;
    })
    .action((flags: Flags) => runDiff(session, flags));

  program
    .command('export')
    .summary('Export deployments as a file for apply')
    .description('Export deployments as a file for apply; diff shows no changes for it')
    .argument('<deployment...>')
    .addHelpText('after', '\nExamples:\n  slipway export chat > chat.yaml')
    .action((names: string[]) => runExport(session, names));

  program
    .command('schema')
    .description('Print the JSON schema of the files for apply, for use in editors')
    .addHelpText('after', '\nExamples:\n  slipway schema > slipway.schema.json')
    .action(async () => session.output.data(JSON.stringify((await import('./manifest.js')).SCHEMA, null, 2)));
}

async function runApply(session: Session, flags: Flags): Promise<void> {
  const [{ apply }, { durationMs }] = await Promise.all([import('./applying.js'), import('../nouns/flags.js')]);
  const timeoutMs = flags.timeout === undefined ? undefined : durationMs(flags.timeout, '--timeout');
  const placed = await read(session, flags);
  if (flags.dryRun) return dryRun(session, placed, flags.dryRun === 'server');
  const applied: ApplyResult[] = [];
  try {
    for (const { manifest } of placed) applied.push(await apply(session, manifest, { waits: flags.wait, timeoutMs }));
  } finally {
    // Print this even if a later file failed: these changes were made.
    if (applied.length > 0) await session.output.print(applied, APPLIED);
  }
}

async function dryRun(session: Session, placed: readonly LocatedManifest[], asksServer: boolean): Promise<void> {
  const { rehearse, warnOfNoStrategy } = await import('./applying.js');
  const planned = await plan(session, placed);
  await show(session, planned);
  for (const { plan: one } of planned) warnOfNoStrategy(session, one);
  if (!asksServer) return;
  for (const { plan: one, state } of planned)
    for (const line of await rehearse(session, one, state)) session.note(harmless(line));
}

async function runDiff(session: Session, flags: Flags): Promise<void> {
  try {
    const planned = await plan(session, await read(session, flags));
    await show(session, planned);
    session.exitCode = planned.some((one) => one.plan.changes.length > 0) ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (session.signal.aborted) throw error;
    for (const line of failureLines(error, session.terminal)) session.note(line);
    // The exit code 1 is reserved for differences.
    session.exitCode = exitCodeOf(error) === EXIT.failed ? EXIT.cancelled : exitCodeOf(error);
  }
}

async function runExport(session: Session, names: readonly string[]): Promise<void> {
  const [{ manifestOf, serverState }, { stringify }] = await Promise.all([import('./server-state.js'), import('yaml')]);
  const slipway = await session.client();
  const manifests = [];
  for (const name of names.map(deploymentNameOf)) {
    const state = await serverState(slipway, name, { signal: session.signal });
    // Get it once more, to throw the api's own error.
    if (!state.deployment) await slipway.deployments.get(name, { signal: session.signal });
    manifests.push(manifestOf(state));
  }
  const texts =
    session.output.format === 'json' ? [JSON.stringify(manifests, null, 2)] : manifests.map((one) => stringify(one));
  session.output.data(texts.join('---\n').trimEnd());
}

async function read(session: Session, { file, allowUnknown: allowsUnknown }: Flags): Promise<LocatedManifest[]> {
  const { manifestsOf } = await import('./manifest.js');
  const texts = [];
  for (const one of file.flatMap((given) => filesOf(given, session)))
    texts.push({ file: one, text: await readText(one, session) });
  const { placed, faults, unknown } = await manifestsOf(texts, { allowsUnknown });
  for (const one of unknown) session.output.warn(one);
  for (const fault of faults) session.note(harmless(fault));
  if (faults.length > 0)
    throw new CliError(
      'The files are invalid. Nothing was changed.',
      EXIT.failed,
      'Run slipway schema to see which fields are allowed. --allow-unknown sends the others too.',
    );
  if (placed.length === 0) throw new CliError('The files contain no deployment.');
  return placed;
}

async function plan(
  session: Session,
  placed: readonly LocatedManifest[],
): Promise<{ plan: Plan; state: ServerState }[]> {
  // applying.js imports the other two.
  const { referencesOf } = await import('./applying.js');
  const { planOf } = await import('./plan.js');
  const { serverState } = await import('./server-state.js');
  const { signal } = session;
  const slipway = await session.client();
  const planned = [];
  for (const { manifest } of placed) {
    const references = referencesOf(manifest);
    const state = await serverState(slipway, manifest.deployment.name, { signal, references });
    planned.push({ plan: planOf(manifest, state), state });
  }
  return planned;
}

async function show({ output, terminal }: Session, planned: readonly { plan: Plan }[]): Promise<void> {
  const plans = planned.map((one) => one.plan);
  if (output.format !== 'table') return output.print(plans.map(plannedOf), PLANNED);
  const { planLines } = await import('./plan.js');
  for (const line of plans.flatMap(planLines).map(harmless)) {
    const colour = terminal.hasColour('stdout') ? COLOURS[line.slice(0, 3)] : undefined;
    output.data(colour ? painted(line, colour) : line);
  }
}
