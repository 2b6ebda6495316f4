import type { Slipway } from '@slipway/sdk';
import { compareSides, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import { closedLoop } from '../load.js';
import type { Stand } from '../stand.js';

const FEW = 1_000;
const CONNECTIONS = 8;

/**
 * Compares a page of 50 from the middle of a long stream with one of a short stream: the cost must not depend on the
 * length.
 */
export async function eventPages(stand: Stand): Promise<Finding[]> {
  const many = stand.sized(1_000_000, 100_000, 2_000);
  const apiUrl = await stand.app('api');
  const slipway = stand.client(apiUrl);
  await fill(stand, slipway, 'few', FEW);
  await fill(stand, slipway, 'many', many);
  await stand.admin.query('vacuum (analyze) events');
  const page = (name: string, after: number) =>
    requestText('GET', `/api/v1/deployments/${name}/events?limit=50&after=${after}`, stand.bearer);
  const requests = { long: page('many', many / 2), short: page('few', FEW / 2) };
  const long = await closedLoop(apiUrl, CONNECTIONS, 200, () => requests.long);
  const short = await closedLoop(apiUrl, CONNECTIONS, 200, () => requests.short);
  const finding = await compareSides(
    `event-pages: of ${many.toLocaleString('en')} events`,
    stand.slices,
    { ours: long.side, limit: short.side },
    `page of 50 from the middle of one deployment's stream; limit: the same with ${FEW.toLocaleString('en')} events; 0.8-1.2 is flat`,
  );
  long.close();
  short.close();
  return [finding];
}

async function fill(stand: Stand, slipway: Slipway, name: string, count: number): Promise<void> {
  const { id } = await slipway.deployments.create({ name });
  const stream = `deployment/${id}`;
  await stand.admin.query(
    `insert into events (stream, sequence, tenant_id, id, type, subject, actor, data)
     select s.stream, s.last_sequence + n, s.tenant_id, 'evt_' || $3 || n, 'route.updated', 'deployments/' || $3, 'system:bench', '{"generation": 1, "reason": "bench"}'
     from event_streams s, generate_series(1, $2::int) n where s.stream = $1`,
    [stream, count, name],
  );
  await stand.admin.query('update event_streams set last_sequence = last_sequence + $2 where stream = $1', [
    stream,
    count,
  ]);
}
