import { Writable } from 'node:stream';
import type { Slipway } from '@slipway/sdk';
import { CliError, EXIT } from './exit-codes.js';
import type { CommandInput, Verb } from './nouns/verb.js';
import type { Session } from './session.js';
import { harmless } from './terminal.js';

/** @throws a CliError if the person does not confirm */
export async function confirmed(
  session: Session,
  verb: Verb,
  { args, flags }: CommandInput,
  client: Slipway,
): Promise<void> {
  if (session.flags.yes) return;
  const [name = ''] = args;
  if (verb.confirm === 'name') return typed(session, name, `This cannot be undone: ${verb.verb} ${name}.`);
  if (verb.confirm === 'yes') return answered(session, `${verb.verb} ${args.join(' ')}?`);
  if (!verb.changesDeployment || flags['dryRun']) return;
  const { environment } = await client.deployments.get(name);
  await confirmedFor(environment, name, session);
}

/** Confirms a change of a deployment in production. */
export async function confirmedFor(environment: string | null, name: string, session: Session): Promise<void> {
  if (session.flags.yes) return;
  const { isProduction } = await import('@slipway/sdk');
  if (isProduction(environment)) await typed(session, name, `${name} is in ${environment}.`);
}

async function typed(session: Session, name: string, why: string): Promise<void> {
  if ((await ask(session, `${why} Type its name to continue: `)) !== name)
    throw new CliError('The name does not match. Nothing was changed.', EXIT.cancelled);
}

async function answered(session: Session, question: string): Promise<void> {
  if (!/^y(es)?$/i.test(await ask(session, `${question} [y/N] `)))
    throw new CliError('Cancelled. Nothing was changed.', EXIT.cancelled);
}

/** Does not show what is typed. */
export const askSecret = (session: Session, question: string): Promise<string> => ask(session, question, true);

/** Prompts on stderr, because stdout is for data. */
export async function ask({ terminal, signal }: Session, question: string, isSecret = false): Promise<string> {
  if (!terminal.isInteractive)
    throw new CliError(
      `${question.trim()} This is not an interactive terminal.`,
      EXIT.failed,
      'Pass --yes to confirm, or pass the value as a flag.',
    );
  const { createInterface } = await import('node:readline/promises');
  const { stdin: input, stderr } = terminal.streams;
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  const lines = createInterface({ input, output, terminal: true });
  // Print the question only now: until readline reads key by key, the terminal itself shows what is typed.
  if (isSecret) stderr.write(question);
  const stop = new AbortController();
  const end = () => stop.abort();
  // In a terminal, readline takes Ctrl-C for itself.
  for (const name of ['SIGINT', 'close'] as const) lines.once(name, end);
  signal.addEventListener('abort', end);
  try {
    return (await lines.question(harmless(question), { signal: stop.signal })).trim();
  } catch {
    throw new CliError('Cancelled. Nothing was changed.', EXIT.cancelled);
  } finally {
    signal.removeEventListener('abort', end);
    lines.close();
    if (isSecret) stderr.write('\n');
  }
}
