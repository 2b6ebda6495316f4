import type { DeploymentEvent, Slipway } from '@slipway/sdk';
import { CliError } from '../exit-codes.js';
import { awayLine, reasonOf } from '../failure-lines.js';
import type { Session } from '../session.js';
import { harmless } from '../terminal.js';
import { SINCE } from './flags.js';
import { logSources, type Instance } from './log-sources.js';
import { DEFAULT_ROWS, type CommandInput, type RunVerb } from './verb.js';
import { EVENT, EVENT_TYPE } from './views.js';

interface EventSource {
  list: (options: CommandInput['options']) => AsyncIterable<DeploymentEvent> & PromiseLike<unknown>;
  follow: (options: CommandInput['options']) => AsyncIterable<DeploymentEvent>;
}

type EventsWords = Pick<RunVerb, 'verb' | 'args' | 'summary' | 'examples' | 'operations'> & {
  eventsOf: (client: Slipway, name: string) => Promise<EventSource>;
};

export const eventsVerb = ({ eventsOf, ...words }: EventsWords): RunVerb => ({
  ...words,
  flags: [
    { flags: '-f, --follow', summary: 'print new events, one per line, until Ctrl-C' },
    { flags: '--after <sequence>', summary: 'only events after this sequence number', query: 'after', as: 'number' },
    { flags: '--type <type>', summary: 'only events of this type', query: 'type', source: 'event type' },
    { ...SINCE, summary: 'only events of this last time, such as 10m or 2d, or since a time' },
    { flags: '-L, --limit <rows>', summary: `maximum number of events (default: ${DEFAULT_ROWS})`, as: 'number' },
  ],
  run: async (session, { args: [name], flags, options }) => {
    const events = await eventsOf(await session.client(), name!);
    const { since } = flags as { since?: string };
    const isRecent = ({ time }: DeploymentEvent) => since === undefined || Date.parse(time) >= Date.parse(since);
    if (flags['follow']) {
      // Before its first answer, the address may be wrong. After that, the command waits for the api.
      await events.list({ limit: 1 });
      const onAway = ({ code }: { code: string }) => session.output.warn(awayLine(code));
      const from = since === undefined ? {} : { after: await lastBefore(events, isRecent, options) };
      const following = { ...options, ...from, awayMs: Infinity, onAway };
      await session.untilInterrupted(async () => {
        const print = session.output.rowsOf(EVENT);
        for await (const event of events.follow(following)) await print(event);
      });
      return;
    }
    const most = (flags['limit'] as number | undefined) ?? DEFAULT_ROWS;
    const rows: DeploymentEvent[] = [];
    for await (const event of events.list({ ...options, limit: Math.min(most, DEFAULT_ROWS) })) {
      // The newest come first.
      if (rows.length >= most || !isRecent(event)) break;
      rows.push(event);
    }
    await session.output.print(rows, EVENT);
  },
});

/** The sequence of the newest event that is not recent; events are followed after it. */
async function lastBefore(
  { list }: EventSource,
  isRecent: (event: DeploymentEvent) => boolean,
  { after = 0, signal }: CommandInput['options'],
): Promise<number> {
  for await (const event of list({ limit: DEFAULT_ROWS, signal }))
    if (!isRecent(event)) return Math.max(event.sequence, Number(after));
  return Number(after);
}

const ofDeployment = eventsVerb({
  verb: 'events',
  args: '<deployment>',
  summary: 'Show the events of a deployment, with --follow as they happen, or all types of events',
  examples: [
    'slipway events chat',
    'slipway events chat --since 10m',
    'slipway events chat --follow -o json',
    'slipway events types',
  ],
  operations: ['listDeploymentEvents'],
  eventsOf: async (client, name) => ({
    list: (options) => client.deployments.events.list(name, options),
    follow: (options) => client.deployments.events.follow(name, options),
  }),
});

/** `events types` needs no server. The events of a deployment with that name are listed by `slipway api`. */
export const events: RunVerb = {
  ...ofDeployment,
  run: async (session, given) => {
    if (given.args[0] !== 'types') return ofDeployment.run(session, given);
    const { EVENT_TYPES } = await import('@slipway/sdk');
    const rows = Object.entries(EVENT_TYPES).map(([type, { when, data }]) => ({ type, when, data }));
    return session.output.print(rows, EVENT_TYPE);
  },
};

/** The most lines that the api returns. */
const MOST_LINES = 10_000;

export const logs: RunVerb = {
  verb: 'logs',
  operations: ['getInstanceLogs'],
  args: '<deployment> [instance]',
  summary: 'Show the output of the instance that serves, of another one, or of all',
  examples: [
    'slipway logs chat --tail 20',
    'slipway logs chat -f',
    'slipway logs chat --revision chat-00002 --since 10m',
    'slipway logs chat --all',
    'slipway logs chat ins_1 --previous',
  ],
  flags: [
    { flags: '-f, --follow', summary: 'print new lines until Ctrl-C, or until the instance ends' },
    {
      flags: '--revision <revision>',
      summary: 'an instance of this revision (default: the one with most traffic)',
      source: 'revision',
    },
    { flags: '--all', summary: 'all instances, with the instance before each line' },
    { flags: '-n, --tail <lines>', summary: 'only this many last lines of each', query: 'tail', as: 'number' },
    { ...SINCE, summary: 'only lines of this last time, such as 10m, or since a time', query: 'since' },
    {
      flags: '--stream <which>',
      summary: 'stream: stdout, stderr or both',
      query: 'stream',
      values: ['stdout', 'stderr', 'both'],
    },
    { flags: '-p, --previous', summary: 'output of the last run that has ended', query: 'previous', as: 'flag' },
  ],
  run: async (session, { args: [name, instance], flags, options }) => {
    const { revision, all: isAll, since } = flags as { revision?: string; all?: boolean; since?: string };
    if (instance !== undefined && (isAll || revision !== undefined))
      throw new CliError('Name an instance, or pass --revision or --all, but not both.');
    // Of this time all lines are meant, not the default number of last lines.
    if (since !== undefined) options['tail'] ??= MOST_LINES;
    const client = await session.client();
    const sources = instance === undefined ? await logSources(client, name!, { revision, isAll }) : [{ id: instance }];
    for (const source of sources) if (!isAll && 'state' in source) session.note(harmless(titleOf(source)));
    const copy = async (id: string): Promise<void> => {
      const prefix = isAll ? `${id}  ` : '';
      if (!flags['follow'])
        return copyText(await client.deployments.instances.logs(name!, id, options), session, prefix);
      const view = { name: 'text', columns: [], line: ({ text }: { text: string }) => prefix + text };
      const print = session.output.rowsOf(view);
      for await (const one of client.deployments.instances.followLogs(name!, id, options))
        await print(isAll ? { instance: id, ...one } : one);
    };
    await session.untilInterrupted(() => copyAll(session, sources, copy, flags['follow'] === true));
  },
};

/** Lines of instances that are followed arrive together; otherwise one instance comes after the other. */
async function copyAll(
  session: Session,
  sources: readonly { id: string }[],
  copy: (id: string) => Promise<void>,
  isTogether: boolean,
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async ({ id }: { id: string }): Promise<void> => {
    await copy(id).catch((error: unknown) => {
      session.signal.throwIfAborted();
      // The output of the others is still wanted.
      if (sources.length > 1) session.output.warn(`${id}: ${reasonOf(error)}`);
      failures.push(error);
    });
  };
  if (isTogether) await Promise.all(sources.map(attempt));
  else for (const source of sources) await attempt(source);
  if (failures.length === sources.length) throw failures[0];
}

/** Which instance was chosen: `ins_1 of chat-00002 (ready)`. */
const titleOf = ({ id, revision, state }: Instance): string => `Output of ${id} of ${revision} (${state})`;

/** Copies the text unchanged. On a terminal, removes what the terminal would interpret as commands. */
async function copyText({ body }: Response, { output, terminal }: Session, prefix: string): Promise<void> {
  if (!body) return;
  const decoder = new TextDecoder();
  let rest = '';
  const tell = (line: string) => output.data(prefix + (terminal.isTerminal('stdout') ? harmless(line) : line));
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    // Only the new part is searched: a long line may arrive in many parts.
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    for (const line of lines) tell(line);
  }
  if (rest) tell(rest);
}
