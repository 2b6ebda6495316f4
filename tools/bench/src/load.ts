import { setTimeout as delay } from 'node:timers/promises';
import { HttpConnection, type RawAnswer } from './http-connection.js';
import { runLoops, type Side } from './measure.js';

/*
 * Not `autocannon`: two sides take turns on connections that stay open, and the open loop counts from the time when a
 * request was due.
 */

/**
 * A closed loop over `count` connections that stay open between slices. Any answer with another status than the
 * expected one is an error.
 */
export async function closedLoop(
  url: string,
  count: number,
  wanted: number,
  next: () => string,
): Promise<{ side: Side; close(): void }> {
  const connections = await Promise.all(Array.from({ length: count }, () => HttpConnection.open(url)));
  const side: Side = (ms) =>
    runLoops(count, ms, async (loop) => expectStatus(await connections[loop]!.send(next()), wanted));
  return { side, close: () => connections.forEach((connection) => connection.close()) };
}

/**
 * Sends at a fixed rate, independent of the answers. Returns the latency of each, in milliseconds, from the time when
 * it was due.
 */
export async function openLoop(
  url: string,
  rate: number,
  ms: number,
  wanted: number,
  next: () => string,
): Promise<number[]> {
  const idle = await Promise.all(Array.from({ length: 16 }, () => HttpConnection.open(url)));
  const all = [...idle];
  const latencies: number[] = [];
  const pending: Promise<void>[] = [];
  const begin = performance.now();
  for (let sent = 0; ;) {
    const now = performance.now() - begin;
    if (now > ms) break;
    while ((sent * 1_000) / rate <= now) {
      const due = begin + (sent * 1_000) / rate;
      sent += 1;
      pending.push(one(due));
    }
    await delay(1);
  }
  await Promise.all(pending);
  all.forEach((connection) => connection.close());
  return latencies;

  async function one(due: number): Promise<void> {
    let connection = idle.pop();
    if (!connection) {
      connection = await HttpConnection.open(url);
      all.push(connection);
    }
    expectStatus(await connection.send(next()), wanted);
    latencies.push(performance.now() - due);
    idle.push(connection);
  }
}

export function expectStatus(answer: RawAnswer, wanted: number): RawAnswer {
  if (answer.status !== wanted)
    throw new Error(`expected ${wanted}, got ${answer.status}: ${answer.body.slice(0, 500)}`);
  return answer;
}
