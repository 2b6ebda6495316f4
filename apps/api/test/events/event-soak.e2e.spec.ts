import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const CLIENTS = 100;
const CUTS = 20;
const LIMIT_MS = 120_000;
const NAME = 'chat';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ apis: 2 });
});
afterAll(() => stack?.stop());

interface EventCopy {
  /** The `id:` line, which a client sends back as Last-Event-ID. */
  cursor: string;
  id: string;
  sequence: number;
}

/** Parses a stream as EventSource specifies: an event counts once its empty line has arrived. */
function parse(block: string): EventCopy | undefined {
  const lines = block.split('\n');
  const value = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}: `))
      .map((line) => line.slice(field.length + 2))
      .join('\n');
  if (value('data') === '') return undefined;
  const { id, sequence } = JSON.parse(value('data')) as { id: string; sequence: number };
  return { cursor: value('id'), id, sequence };
}

/** Follows the events and destroys its connection at random bytes, each time after something new. */
class FlakyClient {
  readonly seen: EventCopy[] = [];
  cuts = 0;
  failures: string[] = [];
  private isDone = false;

  constructor(private readonly index: number) {}

  async follow(): Promise<void> {
    let connection = this.index;
    while (!this.isDone) {
      await this.connect(connection).catch((failure: Error) => this.failures.push(failure.message));
      connection += 1;
    }
  }

  stop(): void {
    this.isDone = true;
    this.current?.destroy();
  }

  private current?: IncomingMessage;

  private async connect(connection: number): Promise<void> {
    const last = this.seen.at(-1)?.cursor;
    const sent = request(`${stack.apiUrl(connection % 2)}/api/v1/deployments/${NAME}/events`, {
      agent: false,
      headers: {
        authorization: `Bearer ${stack.token}`,
        accept: 'text/event-stream',
        ...(last === undefined ? {} : { 'last-event-id': last }),
      },
    }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => undefined);
    answer.on('error', () => undefined);
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
    this.current = answer;
    if (this.isDone) answer.destroy();
    // Often in the middle of an event: an incomplete event does not count.
    let bytesLeft = this.cuts < CUTS ? 1 + Math.floor(Math.random() * 2_500) : Infinity;
    let rest = '';
    answer.setEncoding('latin1').on('data', (chunk: string) => {
      const isCut = chunk.length >= bytesLeft;
      rest += isCut ? chunk.slice(0, bytesLeft) : chunk;
      bytesLeft -= chunk.length;
      const blocks = rest.split('\n\n');
      rest = blocks.pop() as string;
      for (const block of blocks) {
        const event = parse(block);
        if (event) this.seen.push(event);
      }
      if (!isCut || answer.destroyed) return;
      this.cuts += 1;
      answer.destroy();
    });
    await new Promise((resolve) => answer.once('close', resolve));
  }
}

it(`sends ${CLIENTS} clients, each cut ${CUTS} times, every event once and in order`, async () => {
  await stack.slipway().deployments.create({ name: NAME });
  const clients = Array.from({ length: CLIENTS }, (_, index) => new FlakyClient(index));
  const following = clients.map((client) => client.follow());

  // Policies add an event at each change and need no worker. Both api processes produce, as both serve, and no two
  // bodies are the same: a PUT that changes nothing adds no event.
  let isProducing = true;
  let produced = 0;
  const produce = async (api: number) => {
    const { policy } = stack.slipway(api).deployments;
    for (let version = 0; isProducing; version += 1) {
      await policy.set(NAME, {
        mode: version % 2 === 0 ? 'observe' : 'recommend',
        workload: { profile: 'chat', concurrency: 1 + 2 * version + api },
      });
      produced += 1;
    }
  };
  const producing = Promise.all([produce(0), produce(1)]);
  const cuts = () => clients.map((client) => client.cuts);
  await until(
    'every client was cut, in the middle of enough events',
    async () => produced > 120 && cuts().every((count) => count >= CUTS),
    LIMIT_MS,
    () => `${Math.min(...cuts())} at least`,
  );
  isProducing = false;
  await producing;

  const events = await stack.query<{ id: string; sequence: string }>(
    `select e.id, e.sequence from events e join deployments d on e.stream = 'deployment/' || d.id where d.name = $1 order by e.sequence`,
    [NAME],
  );
  await until(
    'every client has the last event',
    async () => clients.every((client) => (client.seen.at(-1)?.sequence ?? 0) >= events.length),
    30_000,
    () => `${Math.min(...clients.map((client) => client.seen.length))} of ${events.length}`,
  );
  for (const client of clients) client.stop();
  await Promise.all(following);

  const expected = events.map(({ id }) => id);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(expected.map((_id, index) => index + 1));
  // One sentence about the first client that differs, instead of a hundred lists of ids.
  const wrong = clients.findIndex(
    (client) => JSON.stringify(client.seen.map(({ id }) => id)) !== JSON.stringify(expected),
  );
  expect({ wrong, seen: clients[wrong]?.seen.map(({ sequence }) => sequence) }).toEqual({ wrong: -1, seen: undefined });
  expect(clients.flatMap((client) => client.failures)).toEqual([]);
  expect(Math.min(...cuts())).toBe(CUTS);
  expect(events.length).toBeGreaterThan(100);
});
