import { connect, type Socket } from 'node:net';
import { compareRounds, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import type { Stand } from '../stand.js';

/** Two groups of this size are open at the same time; each connection uses a file descriptor at both ends. */
const WATCHERS = 1_000;
const FEW_WATCHERS = 100;

/** Measures a thousand event streams of one deployment: from one commit until all of them have received the event. */
export async function watchers(stand: Stand): Promise<Finding[]> {
  const apiUrl = await stand.app('api');
  const { id } = await stand.client(apiUrl).deployments.create({ name: 'bench' });
  const { url: limitUrl } = await stand.limit('broadcast-server');
  const count = stand.sized(WATCHERS, WATCHERS, FEW_WATCHERS);
  const ours = await Crowd.gather(
    apiUrl,
    count,
    requestText('GET', '/api/v1/deployments/bench/events', { ...stand.bearer, accept: 'text/event-stream' }),
  );
  const limit = await Crowd.gather(limitUrl, count, requestText('GET', '/', { accept: 'text/event-stream' }));
  const times = { ours: [] as number[], limit: [] as number[] };
  const rounds = stand.sized(20, 8, 2);
  for (let round = -2; round < rounds; round += 1) {
    const mark = `mark-${round + 2}-`;
    const own = await ours.until(mark, () => append(stand, `deployment/${id}`, mark));
    const bare = await limit.until(mark, async () => void (await fetch(`${limitUrl}/${mark}`, { method: 'POST' })));
    if (round < 0) continue;
    times.ours.push(own);
    times.limit.push(bare);
  }
  ours.leave();
  limit.leave();
  return [
    compareRounds(
      `watchers: ${count.toLocaleString('en')} event streams`,
      'ms',
      times,
      'from the start of one commit until all have its event; limit: broadcast in memory by bare node:http, no commit; ratio of times: lower is better',
    ),
  ];
}

async function append(stand: Stand, stream: string, mark: string): Promise<void> {
  await stand.admin.query(
    `with head as (update event_streams set last_sequence = last_sequence + 1 where stream = $1 returning last_sequence, tenant_id), added as (
       insert into events (stream, sequence, tenant_id, id, type, subject, actor, data)
       select $1, last_sequence, tenant_id, 'evt_' || $2, 'route.updated', 'deployments/bench', 'system:bench', jsonb_build_object('mark', $2::text) from head)
     select pg_notify('slipway_events', $1) from head`,
    [stream, mark],
  );
}

/** Open event streams, with a count of those that have received an event. */
class Crowd {
  private readonly sockets: Socket[] = [];
  private mark = '\0';
  private missing = new Set<number>();
  private all: () => void = () => undefined;

  static async gather(url: string, count: number, request: string): Promise<Crowd> {
    const crowd = new Crowd();
    const { hostname, port } = new URL(url);
    // In small groups, because the listen queue of a server is short.
    for (let i = 0; i < count; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => crowd.join(hostname, Number(port), request, i + n)));
    }
    return crowd;
  }

  async until(mark: string, cause: () => Promise<void>): Promise<number> {
    this.mark = mark;
    this.missing = new Set(this.sockets.keys());
    const received = new Promise<void>((resolve) => (this.all = resolve));
    const begin = performance.now();
    await cause();
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<never>(
      (_, reject) =>
        (limit = setTimeout(() => reject(new Error(`${this.missing.size} watchers received nothing`)), 10_000)),
    );
    await Promise.race([received, late]).finally(() => clearTimeout(limit));
    return performance.now() - begin;
  }

  leave(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private join(host: string, port: number, request: string, index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => socket.write(request)).setEncoding('latin1');
      this.sockets[index] = socket;
      socket.on('error', reject).on('data', (chunk) => {
        const text = String(chunk);
        if (text.startsWith('HTTP/1.1 200')) resolve();
        else if (text.startsWith('HTTP/1.1')) reject(new Error(text.slice(0, 300)));
        if (text.includes(this.mark) && this.missing.delete(index) && this.missing.size === 0) this.all();
      });
    });
  }
}
