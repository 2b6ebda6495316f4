import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cut, event, refusal, silent, stream, UnrulyServer } from '../../test/unruly-server.js';

let server: UnrulyServer;
beforeAll(async () => {
  server = await UnrulyServer.start();
});
afterAll(() => server?.stop());

const SOON = 'retry: 5\n\n';

async function sequences(events: AsyncIterable<{ sequence: number }>, most = Infinity): Promise<number[]> {
  const all: number[] = [];
  for await (const { sequence } of events) if (all.push(sequence) >= most) break;
  return all;
}
const lastIds = () => server.seen.map(({ headers }) => headers['last-event-id']);

it('the client continues after the last whole event when the connection is cut in the middle of one', async () => {
  server.does(
    stream(`${SOON}${event(1)}${event(2)}id: 3\nevent: route.updated\ndata: {"sequence":33,`, 'cut'),
    cut,
    refusal(503, 'unavailable', true, { 'retry-after': '0' }),
    // No line break between them: half an event must not run into the next.
    stream(`${event(3)}${event(4)}`),
  );
  expect(await sequences(server.client().deployments.events.follow('chat'), 4)).toEqual([1, 2, 3, 4]);
  expect(lastIds()).toEqual([undefined, '2', '2', '2']);
  expect(server.seen[0]).toMatchObject({
    url: '/api/v1/deployments/chat/events',
    headers: { accept: 'text/event-stream' },
  });
  // A reader that stops releases the connection.
  await server.seen[3]?.closed;
});

it('the client reconnects after the wait that the server sets', async () => {
  server.does(refusal(429, 'quota_exceeded', true, { 'retry-after': '3' }), stream(`${SOON}${event(1)}`));
  const startedAt = performance.now();
  expect(await sequences(server.client().deployments.events.follow('chat'), 1)).toEqual([1]);
  expect(performance.now() - startedAt).toBeGreaterThan(2_990);
});

it('the events end with the operation', async () => {
  server.does(stream(`${SOON}${event(7)}`, 'end'), stream(`${SOON}${event(8)}${event(9)}`, 'end'), (response) =>
    response.writeHead(204).end(),
  );
  expect(await sequences(server.client().operations.events.follow('op_1', { after: 6 }))).toEqual([7, 8, 9]);
  expect(lastIds()).toEqual(['6', '7', '9']);
});

it('the client yields the events of one type, and still recognises the end', async () => {
  server.does(stream(`${event(1, 'a')}${event(2, 'b')}${event(3, 'a')}`, 'end'), (response) =>
    response.writeHead(204).end(),
  );
  expect(await sequences(server.client().operations.events.follow('op_1', { type: 'b' }))).toEqual([2]);
  expect(lastIds()).toEqual([undefined, '3']);
});

it('a silent connection counts as dead, and one with heartbeats as alive', async () => {
  server.does(
    stream(`${SOON}${event(1)}`),
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const beat = setInterval(() => response.write(': heartbeat\n\n'), 50);
      setTimeout(() => response.write(event(2)), 2_500);
      response.on('close', () => clearInterval(beat));
    },
    silent,
  );
  const startedAt = performance.now();
  expect(await sequences(server.client().deployments.events.follow('chat', { silenceMs: 1_000 }), 2)).toEqual([1, 2]);
  // By default, a silence may last for 45 seconds.
  expect(performance.now() - startedAt).toBeLessThan(40_000);
  expect(server.seen).toHaveLength(2);
});

it('a lost connection is reported once, and given up when it has been lost for long', async () => {
  const away = refusal(503, 'unavailable', true, { 'retry-after': '0' });
  const told: string[] = [];
  const onAway = ({ code }: { code: string }) => void told.push(code);
  server.does(stream(`${SOON}${event(1)}`, 'cut'), away, away, stream(event(2)));
  expect(await sequences(server.client().deployments.events.follow('chat', { onAway }), 2)).toEqual([1, 2]);
  expect(told).toEqual(['unavailable']);
  server.does(stream(`${SOON}${event(1)}`, 'cut'), away);
  const impatient = server.client().deployments.events.follow('chat', { onAway, awayMs: 600 });
  await expect(sequences(impatient)).rejects.toMatchObject({ code: 'unavailable' });
  expect(told).toHaveLength(2);
});

it('following fails if a server other than the api answers', async () => {
  server.does((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'));
  const reading = sequences(server.client().deployments.events.follow('chat'));
  await expect(reading).rejects.toMatchObject({ code: 'unexpected_answer' });
});

it("following fails with a permanent error, and with the reader's abort", async () => {
  server.does(stream(`${SOON}${event(1)}`, 'cut'), refusal(410, 'cursor_expired', false));
  const expired = sequences(server.client().deployments.events.follow('chat'));
  await expect(expired).rejects.toMatchObject({ code: 'cursor_expired', status: 410 });

  server.does(stream(`${SOON}${event(1)}`));
  const stop = new AbortController();
  const reading = sequences(server.client().deployments.events.follow('chat', { signal: stop.signal }));
  await server.until(1);
  stop.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  await server.seen[0]?.closed;
  expect(server.seen).toHaveLength(1);
});

it('the client follows the output of an instance to its end, and reports a break', async () => {
  const line = (text: string) => `event: stdout\ndata: ${JSON.stringify({ at: '2026-01-01T00:00:00Z', text })}\n\n`;
  const logs = async (): Promise<string[]> => {
    const texts: string[] = [];
    for await (const { stream: from, text } of server
      .client()
      .deployments.instances.followLogs('chat', 'i-1', { tail: 5 }))
      texts.push(`${from}: ${text}`);
    return texts;
  };
  server.does(stream(`${line('a')}${line('b')}event: end\ndata: {"reason":"complete"}\n\n`, 'end'));
  expect(await logs()).toEqual(['stdout: a', 'stdout: b']);
  expect(server.seen[0]?.url).toBe('/api/v1/deployments/chat/instances/i-1/logs?tail=5&follow=true');
  server.does(stream(`${line('a')}event: end\ndata: {"reason":"unavailable"}\n\n`, 'end'));
  await expect(logs()).rejects.toMatchObject({ code: 'unavailable' });
  server.does(stream(line('a'), 'end'));
  await expect(logs()).rejects.toMatchObject({ code: 'connection_failed' });
});
