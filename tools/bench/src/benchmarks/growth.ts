import { setTimeout as delay } from 'node:timers/promises';
import { compareRounds, type Finding } from '../finding.js';
import { HttpConnection, requestText } from '../http-connection.js';
import { expectStatus } from '../load.js';
import { interleave, type Side } from '../measure.js';
import type { Stand } from '../stand.js';
import { FILL_DEPLOYMENTS, FILL_FINISHED, FILL_FINISHED_STEPS } from './growth.query.js';

const CLIENTS = 16;
const WAIT_MS = 60_000;

/**
 * Compares whole rollouts per second, from request to end, on a database with a long past and on an empty one. Each has
 * its own stack.
 */
export async function growth(stand: Stand): Promise<Finding[]> {
  const finished = stand.sized(1_000_000, 100_000, 1_000);
  const deployments = stand.sized(10_000, 10_000, 100);
  const batch = stand.sized(50, 30, 2);
  const grown = await sideOf(stand, batch, (tenant) => fill(stand, tenant, finished, deployments));
  const other = await stand.another();
  const empty = await sideOf(other, batch, async (tenant) => {
    // Exactly as many deployments as are rolled out.
    await other.admin.query(FILL_DEPLOYMENTS, [tenant, batch * (stand.slices.rounds + 1)]);
  });
  const seen = await interleave(stand.slices, { ours: grown, limit: empty });
  const [past, size] = [finished.toLocaleString('en'), deployments.toLocaleString('en')];
  return [
    compareRounds(
      'growth: rollouts to their end',
      '/s',
      seen,
      `${CLIENTS} clients, ${past} finished operations and ${size} deployments; limit: a separate stack with an empty database; required: 0.9`,
    ),
  ];
}

async function sideOf(stand: Stand, batch: number, fillWith: (tenant: string) => Promise<void>): Promise<Side> {
  const apiUrl = await stand.app('api');
  await stand.client(apiUrl).deployments.create({ name: 'template' });
  await fillWith(await stand.operatorTenant());
  await stand.app('worker');
  const { url: upstream } = await stand.limit('upstream');
  const connections = await Promise.all(Array.from({ length: CLIENTS }, () => HttpConnection.open(apiUrl)));
  const body = JSON.stringify({
    spec: { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: upstream } },
    strategy: { type: 'candidate' },
  });
  let next = 0;
  return async () => {
    const begin = performance.now();
    const last = next + batch;
    const ids: string[] = [];
    await Promise.all(
      connections.map(async (connection) => {
        while (next < last) {
          next += 1;
          const target = `/api/v1/deployments/grown-${next}/rollouts`;
          const answer = expectStatus(await connection.send(requestText('POST', target, stand.bearer, body)), 202);
          ids.push((JSON.parse(answer.body) as { operation: { id: string } }).operation.id);
        }
      }),
    );
    await waitUntilEnded(stand, ids);
    return (batch * 1_000) / (performance.now() - begin);
  };
}

/** Polls these rows by their keys, in the same way for both databases. */
async function waitUntilEnded(stand: Stand, ids: string[]): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS; ; await delay(10)) {
    const { rows } = await stand.admin.query<{ status: string; n: number }>(
      'select status, count(*)::int as n from operations where id = any($1) group by status',
      [ids],
    );
    if (rows.length === 1 && rows[0]!.status === 'succeeded') return;
    const failed = rows.some(({ status }) => status === 'failed' || status === 'cancelled');
    if (failed || Date.now() > deadline) throw new Error(`rollouts did not succeed: ${JSON.stringify(rows)}`);
  }
}

/** Skips the checks of foreign keys: the keys are right, and it takes half the time. */
async function fill(stand: Stand, tenant: string, finished: number, deployments: number): Promise<void> {
  const connections = await Promise.all([stand.admin.connect(), stand.admin.connect()]);
  const [operations, steps] = connections;
  try {
    for (const connection of connections) await connection.query('set session_replication_role = replica');
    await operations!.query(FILL_DEPLOYMENTS, [tenant, deployments]);
    await Promise.all([
      operations!.query(FILL_FINISHED, [tenant, finished, deployments]),
      steps!.query(FILL_FINISHED_STEPS, [tenant, finished]),
    ]);
  } finally {
    for (const connection of connections)
      await connection.query('reset session_replication_role').finally(() => connection.release());
  }
  await stand.admin.query('vacuum (analyze) operations, operation_steps, deployments');
  // Otherwise a checkpoint starts during the slices, and affects only one side.
  await stand.admin.query('checkpoint');
}
