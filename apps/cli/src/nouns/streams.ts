import type { DeploymentEvent, Slipway } from '@slipway/sdk';
import { awayLine } from '../failure-lines.js';
import type { Session } from '../session.js';
import { harmless } from '../terminal.js';
import { instanceIdOf } from './names.js';
import { DEFAULT_ROWS, type CommandInput, type RunVerb } from './verb.js';
import { EVENT } from './views.js';

interface EventSource {
  list: (options: CommandInput['options']) => AsyncIterable<DeploymentEvent> & PromiseLike<unknown>;
  follow: (options: CommandInput['options']) => AsyncIterable<DeploymentEvent>;
}

type EventsWords = Pick<RunVerb, 'verb' | 'args' | 'summary' | 'examples'> & {
  eventsOf: (client: Slipway, name: string) => Promise<EventSource>;
};

export const eventsVerb = ({ eventsOf, ...words }: EventsWords): RunVerb => ({
  ...words,
  flags: [
    { flags: '--follow', summary: 'print new events, one per line, until Ctrl-C' },
    { flags: '--after <sequence>', summary: 'only events after this sequence number', query: 'after', as: 'number' },
    { flags: '--type <type>', summary: 'only events of this type', query: 'type' },
    { flags: '--limit <rows>', summary: `maximum number of events (default: ${DEFAULT_ROWS})`, as: 'number' },
  ],
  run: async (session, { args: [name], flags, options }) => {
    const events = await eventsOf(await session.client(), name!);
    if (flags['follow']) {
      // Before its first answer, the address may be wrong. After that, the command waits for the api.
      await events.list({ limit: 1 });
      const onAway = ({ code }: { code: string }) => session.output.warn(awayLine(code));
      const following = { ...options, awayMs: Infinity, onAway };
      await session.untilInterrupted(async () => {
        for await (const event of events.follow(following)) await session.output.printNext(event, EVENT);
      });
      return;
    }
    const most = (flags['limit'] as number | undefined) ?? DEFAULT_ROWS;
    const rows: DeploymentEvent[] = [];
    for await (const event of events.list({ ...options, limit: Math.min(most, DEFAULT_ROWS) })) {
      if (rows.length >= most) break;
      rows.push(event);
    }
    await session.output.print(rows, EVENT);
  },
});

export const events: RunVerb = eventsVerb({
  verb: 'events',
  args: '<deployment>',
  summary: 'Show the events of a deployment, with --follow as they happen',
  examples: ['slipway events chat', 'slipway events chat --follow -o json'],
  eventsOf: async (client, name) => ({
    list: (options) => client.deployments.events.list(name, options),
    follow: (options) => client.deployments.events.follow(name, options),
  }),
});

export const logs: RunVerb = {
  verb: 'logs',
  args: '<deployment> [instance]',
  summary: 'Show the output of an instance',
  examples: ['slipway logs chat ins_1 --tail 20', 'slipway logs chat ins_1 --follow'],
  flags: [
    { flags: '--follow', summary: 'print new lines until Ctrl-C, or until the instance ends' },
    { flags: '--tail <lines>', summary: 'only this many last lines', query: 'tail', as: 'number' },
    { flags: '--since <time>', summary: 'only lines since this time', query: 'since' },
    { flags: '--stream <which>', summary: 'stream: stdout, stderr or both', query: 'stream' },
    { flags: '--previous', summary: 'output of the last run that has ended', query: 'previous', as: 'flag' },
  ],
  run: async (session, { args: [name, instance], flags, options }) => {
    const client = await session.client();
    const id = await instanceIdOf(client, name!, instance);
    if (flags['follow']) {
      const line = ({ text }: { text: string }) => text;
      const view = { name: 'text', columns: [], line };
      await session.untilInterrupted(async () => {
        for await (const one of client.deployments.instances.followLogs(name!, id, options))
          await session.output.printNext(one, view);
      });
      return;
    }
    const response = await client.deployments.instances.logs(name!, id, options);
    await copyText(response, session);
  },
};

/** Copies the text unchanged. On a terminal, removes what the terminal would interpret as commands. */
async function copyText({ body }: Response, { output, terminal }: Session): Promise<void> {
  if (!body) return;
  const decoder = new TextDecoder();
  let rest = '';
  const tell = (line: string) => output.data(terminal.isTerminal('stdout') ? harmless(line) : line);
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) tell(line);
  }
  if (rest) tell(rest);
}
