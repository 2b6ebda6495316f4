import { Command, Option } from 'commander';
import { declarative } from './declarative/commands.js';
import { doctor } from './doctor/commands.js';
import { acceptSigns, habitHint } from './habits.js';
import { access, audit, system, tenants, tokens, whoami } from './nouns/access.js';
import { context, login, logout } from './nouns/account.js';
import { autopilot } from './nouns/autopilot.js';
import { bindings, catalog, passports, products, publications, targets } from './nouns/catalog.js';
import { chat } from './nouns/chat.js';
import { completion } from './nouns/completion.js';
import { deployments } from './nouns/deployments.js';
import { open } from './nouns/open.js';
import { operations } from './nouns/operations.js';
import { plans } from './nouns/plans/plans.js';
import { api } from './nouns/raw.js';
import { rollback, rollouts } from './nouns/rollouts.js';
import { files, references, sandboxes } from './nouns/sandboxes.js';
import { instances, policies, revisions, routes } from './nouns/serving.js';
import { events, logs } from './nouns/streams.js';
import { up } from './servers/up.js';
import { derived, OPERATIONS, plainVerb } from './nouns/endpoint-verb.js';
import type { EndpointVerb, Noun, Verb } from './nouns/verb.js';
import { webhooks } from './nouns/webhooks.js';
import { FORMATS } from './output.js';
import type { GlobalFlags, Session } from './session.js';
import { addFlags, givenOf } from './nouns/flags.js';

function registerNoun(program: Command, session: Session, { noun, aliases = [], summary, verbs }: Noun): void {
  const group = groupOf(program, noun, summary).aliases(aliases);
  const taken = verbs.flatMap((one) => [one.verb, ...(one.aliases ?? [])]);
  for (const verb of verbs) {
    const habits = (HABITS[verb.verb] ?? []).filter((name) => !taken.includes(name));
    taken.push(...habits);
    registerVerb(group, session, { ...verb, aliases: [...(verb.aliases ?? []), ...habits] });
  }
}

const groupOf = (program: Command, noun: string, summary: string): Command =>
  program.commands.find((command) => command.name() === noun) ??
  program.command(noun).summary(summary).description(summary);

const VERBS = new WeakMap<Command, Verb>();

/** The verb of the table that a command runs. */
export const verbOf = (command: Command): Verb | undefined => VERBS.get(command);

/** Names that people know from kubectl, gh and the shell. */
const HABITS: Record<string, readonly string[]> = {
  list: ['ls'],
  get: ['show', 'describe', 'view'],
  show: ['get', 'describe', 'view'],
  delete: ['rm'],
};

function registerVerb(parent: Command, session: Session, given: Verb | EndpointVerb): void {
  const verb: Verb = 'operation' in given ? derived(given) : given;
  const command = parent.command(verb.args ? `${verb.verb} ${verb.args}` : verb.verb).summary(verb.summary);
  command.description(verb.summary).aliases(verb.aliases ?? []);
  VERBS.set(command, verb);
  addFlags(command, verb);
  command.addHelpText('after', ['', 'Examples:', ...verb.examples.map((line) => `  ${line}`)].join('\n'));
  command.action(async () => {
    const { runCall } = await import('./running.js');
    const given = await givenOf(command, verb, session);
    await ('run' in verb ? verb.run(session, given) : runCall(session, verb, given));
  });
}

/** Adds a group of commands to the program. Imports heavy modules inside its actions, so that `--help` stays quick. */
export type Group = (program: Command, session: Session) => void;

const nounsOf =
  (...nouns: readonly Noun[]): Group =>
  (program, session) => {
    for (const noun of nouns) registerNoun(program, session, noun);
  };
const verbsOf =
  (...verbs: readonly (Verb | EndpointVerb)[]): Group =>
  (program, session) => {
    for (const verb of verbs) registerVerb(program, session, verb);
  };

/** Each group is one line here. */
const GROUPS: readonly Group[] = [
  verbsOf(up, login, logout, whoami, system),
  nounsOf(context, deployments, rollouts),
  verbsOf(rollback),
  nounsOf(revisions, routes, operations),
  verbsOf(events, logs, chat),
  nounsOf(instances, policies, plans, autopilot),
  nounsOf(sandboxes, files, references),
  nounsOf(products, bindings, publications, catalog, passports),
  nounsOf(tokens, tenants, access, audit, webhooks, targets),
  declarative,
  doctor,
  verbsOf(api, open, completion),
];

/** An operation that no group calls gets a command too, made from the SDK's tables alone. */
function registerRest(program: Command, session: Session): void {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const called = new Set(all(program).flatMap((command) => verbOf(command)?.operations ?? []));
  const isTaken = (noun: string, verb: string) =>
    program.commands
      .find((group) => group.name() === noun)
      ?.commands.some((one) => [one.name(), ...one.aliases()].includes(verb)) ?? false;
  for (const operation of OPERATIONS.filter((id) => !called.has(id))) {
    const { noun, verb } = plainVerb(operation, isTaken);
    registerVerb(groupOf(program, noun, `Call the operations of ${noun}`), session, verb);
  }
}

export function programOf(session: Session, version: string, groups: readonly Group[] = GROUPS): Command {
  const program = new Command('slipway')
    .description('Manage Slipway inference deployments from a terminal, a script or a pipeline.')
    .version(version, '-V, --version')
    .option('--context <name>', 'use this context, as named at login (default: the current one)')
    .addOption(new Option('-o, --output <format>', 'output format (default: table)').choices([...FORMATS]))
    .option('--json <fields>', 'print only these fields, as JSON: id,status')
    .option('-q, --jq <filter>', 'filter the JSON output with this jq filter')
    .option('-v, --verbose', 'show each request as a curl command, with the token masked')
    .option('-y, --yes', 'skip confirmation prompts')
    .configureHelp({ showGlobalOptions: true, helpWidth: session.terminal.columnsOf('stdout') ?? 100 })
    .configureOutput({
      writeOut: (text) => void session.terminal.streams.stdout.write(text),
      writeErr: (text) => void session.terminal.streams.stderr.write(text),
      outputError: (text, write) => {
        const hint = habitHint(program, text);
        // A near word of this command would be a second, worse hint.
        write(hint === undefined ? text : `${text.split('\n', 1)[0]}\n${hint}\n`);
      },
    })
    .showSuggestionAfterError()
    .exitOverride()
    .hook('preAction', (_, action) => {
      session.flags = action.optsWithGlobals<GlobalFlags>();
    });
  for (const register of groups) register(program, session);
  registerRest(program, session);
  acceptSigns(program);
  return program;
}
