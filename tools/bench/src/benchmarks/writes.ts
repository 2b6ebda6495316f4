import type { Finding } from '../benchmarks.js';
import { requestText } from '../http-connection.js';
import { closedLoop } from '../load.js';
import { asRatio, compare, lanes, perSecond } from '../measure.js';
import type { Stand } from '../stand.js';
import { limitFunction } from './writes.query.js';

const CLIENTS = 16;
const DEPLOYMENTS = 40_000;

/** POST rollouts with a key, each on a deployment of its own, against one SQL function that writes the same rows. */
export async function writes(stand: Stand): Promise<Finding[]> {
  const apiUrl = await stand.app('api');
  const {
    rows: [tenant],
  } = await stand.admin.query<{ id: string }>('select id from tenants limit 1');
  await stand.admin.query(
    `insert into deployments (id, tenant_id, name, created_by) select 'dep_bench' || n, $1, 'bench-' || n, '{"type":"token","id":"bench"}' from generate_series(1, $2::int) n`,
    [tenant!.id, DEPLOYMENTS],
  );
  await stand.admin.query('analyze');
  await stand.admin.query(limitFunction);
  const body = JSON.stringify({
    spec: { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } },
    strategy: { type: 'candidate' },
    reason: 'bench',
  });
  let next = 0;
  const ours = await closedLoop(apiUrl, CLIENTS, 202, () => {
    next += 1;
    return requestText(
      'POST',
      `/api/v1/deployments/bench-${next}/rollouts`,
      { ...stand.bearer, 'idempotency-key': `bench-${next}` },
      body,
    );
  });
  const call = { name: 'bench-rollout', text: 'select bench_rollout($1, $2, $3)' };
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => stand.admin.connect()));
  const limit = (ms: number): Promise<number> =>
    lanes(CLIENTS, ms, (lane) => {
      next += 1;
      return clients[lane]!.query({ ...call, values: [next, tenant!.id, body] });
    });
  const rates = await compare(stand.slices, ours.side, limit);
  ours.close();
  clients.forEach((client) => client.release());
  return [
    {
      name: 'writes: POST a rollout',
      ours: perSecond(rates.ours),
      limit: perSecond(rates.limit),
      ratio: asRatio(rates.ratio),
      notes: `limit: one SQL function with the same inserts, called over ${CLIENTS} connections without HTTP; fsync on`,
    },
  ];
}
