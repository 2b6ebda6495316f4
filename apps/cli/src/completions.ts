import type { Slipway } from '@slipway/sdk';
import type { Command, Option } from 'commander';
import type { Session } from './session.js';

/** A shell that hangs at Tab is worse than a shell that completes no names. */
const MOST_MS = 2_000;
const MOST_NAMES = 100;
/** The shell would interpret any other character. */
const HARMLESS = /^[\w.:@/+-]+$/;

type Call = { signal: AbortSignal; maxRetries: 0; limit: number };
type Names = (client: Slipway, call: Call, before: readonly string[]) => PromiseLike<{ data: readonly object[] }>;

/** The key is the name of an argument. */
const NAMES: Record<string, [of: string, read: Names]> = {
  deployment: ['name', (client, call) => client.deployments.list(call)],
  operation: ['id', (client, call) => client.operations.list(call)],
  instance: ['id', (client, call, [name]) => client.deployments.instances.list(name!, call)],
  revision: ['name', (client, call, [name]) => client.deployments.revisions.list(name!, call)],
  from: ['name', (client, call, [name]) => client.deployments.revisions.list(name!, call)],
  to: ['name', (client, call, [name]) => client.deployments.revisions.list(name!, call)],
  plan: ['id', (client, call) => client.autopilot.plans.list(call)],
  product: ['slug', (client, call) => client.admin.modelApi.products.list(call)],
  binding: ['id', (client, call) => client.admin.modelApi.targetBindings.list(call)],
  publication: ['id', (client, call) => client.admin.modelApi.publications.list(call)],
  sandbox: ['id', (client, call) => client.sandboxes.list(call)],
  reference: ['id', (client, call) => client.sandboxes.references.list(call)],
  token: ['name', (client, call) => client.tokens.list(call)],
  tenant: ['name', (client, call) => client.tenants.list(call)],
  webhook: ['id', (client, call) => client.webhooks.list(call)],
};

/** Completes the last of these words: to commands, flags, or existing names. */
export async function completionsOf(program: Command, session: Session, words: readonly string[]): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  let command = program;
  const given: string[] = [];
  let asked: Option | undefined;
  for (let i = 0; i < words.length - 1; i += 1) {
    const word = words[i]!;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next && given.length === 0) command = next;
    else if (word.startsWith('-')) {
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => word === long || word === short,
      );
      if (word === '--context') session.flags = { ...session.flags, context: words[i + 1] };
      if (option && (option.required || option.optional)) i += 1;
      // The next word is the value of the option: the shell completes files there.
      if (i === words.length - 1) asked = option;
    } else given.push(word);
  }
  const found = asked ? valuesOf(asked, session) : await candidates(command, program, session, given, typed);
  return found.filter((one) => one.startsWith(typed) && HARMLESS.test(one));
}

const valuesOf = ({ argChoices, long }: Option, { contexts }: Session): string[] =>
  long === '--context' ? contexts.list().map(({ name }) => name) : (argChoices ?? []);

async function candidates(
  command: Command,
  program: Command,
  session: Session,
  given: readonly string[],
  typed: string,
): Promise<string[]> {
  if (typed.startsWith('-'))
    return [...command.options, ...program.options].flatMap(({ long }) => (long ? [long] : []));
  if (command.commands.length > 0) return command.commands.map((one) => one.name());
  const argument = command.registeredArguments[given.length]?.name() ?? '';
  if (!Object.hasOwn(NAMES, argument)) return [];
  // The name of a deployment also identifies an operation: the one that is running on it.
  const kinds = argument === 'operation' ? ['deployment', argument] : [argument];
  const read = await Promise.all(kinds.map((kind) => namesOf(NAMES[kind]!, session, given)));
  return read.flat();
}

async function namesOf([of, read]: [string, Names], session: Session, given: readonly string[]): Promise<string[]> {
  try {
    const { withinTime } = await import('@slipway/sdk');
    const { data } = await withinTime(MOST_MS, undefined, async (signal) =>
      read(await session.client(), { signal, maxRetries: 0, limit: MOST_NAMES }, given),
    );
    return data.map((row) => String((row as Record<string, unknown>)[of]));
  } catch {
    return [];
  }
}
