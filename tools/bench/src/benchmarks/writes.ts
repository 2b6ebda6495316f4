import { exactFigure, figureOfSlices } from '../figure.js';
import { compareFigures, compareSides, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import { closedLoop, openLoop } from '../load.js';
import { quantile, runLoops } from '../measure.js';
import type { Stand } from '../stand.js';
import { HOT, LIMIT_FUNCTION, ROLLOUTS_END_AT_ONCE, ROLLOUTS_END_AS_EVER } from './writes.query.js';

const CLIENTS = 16;
const CLIENTS_OF_ONE = 32;
const DEPLOYMENTS = 40_000;
/** The required rate per second; 95 % of the requests must be answered within the limit. */
const RATE = 100;
const WANTED_MS = 50;
const LIMIT =
  'limit: one SQL function with the same inserts, called over the same number of connections without HTTP; fsync on';
const BODY = JSON.stringify({
  spec: { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } },
  strategy: { type: 'candidate' },
  reason: 'bench',
});

/**
 * Compares POST rollouts with a key, each on its own deployment and all on one, with one SQL function that writes the
 * same rows.
 */
export async function writes(stand: Stand): Promise<Finding[]> {
  const apiUrl = await stand.app('api');
  const tenant = await stand.operatorTenant();
  await stand.admin.query(
    `insert into deployments (id, tenant_id, name, created_by) select 'dep_bench' || n, $1, 'bench-' || n, '{"type":"token","id":"bench"}' from generate_series(1, $2::int) n`,
    [tenant, DEPLOYMENTS],
  );
  await stand.admin.query('analyze');
  await stand.admin.query(LIMIT_FUNCTION);
  let next = HOT;
  const side = { stand, apiUrl, tenant, number: () => (next += 1) };
  const spread = await compareRates(
    'writes: POST a rollout',
    { ...side, clients: CLIENTS },
    (n) => n,
    `${CLIENTS} clients; ${LIMIT}`,
  );
  const steady = await latencyAtRate(side);
  await stand.admin.query(ROLLOUTS_END_AT_ONCE);
  try {
    const notes = `${CLIENTS_OF_ONE} clients; each rollout ends in the statement that starts it (by a trigger of the benchmark), so that none is refused; ${LIMIT}`;
    return [
      spread,
      steady,
      await compareRates(
        'writes: POST rollouts of one deployment',
        { ...side, clients: CLIENTS_OF_ONE },
        () => HOT,
        notes,
      ),
    ];
  } finally {
    await stand.admin.query(ROLLOUTS_END_AS_EVER);
  }
}

interface Api {
  stand: Stand;
  apiUrl: string;
  tenant: string;
  /** Returns a new number at each call. */
  number(): number;
}

interface Side extends Api {
  clients: number;
}

function rolloutRequest(stand: Stand, deployment: number, n: number): string {
  const headers = { ...stand.bearer, 'idempotency-key': `bench-${n}` };
  return requestText('POST', `/api/v1/deployments/bench-${deployment}/rollouts`, headers, BODY);
}

/** Sends rollouts at a fixed rate, each on its own deployment, and takes the 95th percentile of every slice. */
async function latencyAtRate({ stand, apiUrl, number }: Api): Promise<Finding> {
  const next = (): string => {
    const n = number();
    return rolloutRequest(stand, n, n);
  };
  const slices: number[] = [];
  for (let round = -1; round < stand.slices.rounds; round += 1) {
    const latencies = await openLoop(apiUrl, RATE, stand.slices.sliceMs, 202, next);
    // The first slice opens connections.
    if (round >= 0) slices.push(quantile(latencies, 0.95));
  }
  return compareFigures(
    `writes: POST a rollout at ${RATE}/s, p95`,
    figureOfSlices('ms', slices),
    exactFigure('ms', WANTED_MS),
    'from the due time of each request until its 202, each on its own deployment; limit: the required 95th percentile',
  );
}

/** @param deploymentOf maps the n-th rollout to the number of its deployment */
async function compareRates(
  name: string,
  { stand, apiUrl, tenant, clients, number }: Side,
  deploymentOf: (n: number) => number,
  notes: string,
): Promise<Finding> {
  const ours = await closedLoop(apiUrl, clients, 202, () => {
    const n = number();
    return rolloutRequest(stand, deploymentOf(n), n);
  });
  const call = { name: 'bench-rollout', text: 'select bench_rollout($1, $2, $3, $4)' };
  const connections = await Promise.all(Array.from({ length: clients }, () => stand.admin.connect()));
  const limit = (ms: number): Promise<number> =>
    runLoops(clients, ms, (loop) => {
      const n = number();
      return connections[loop]!.query({ ...call, values: [n, deploymentOf(n), tenant, BODY] });
    });
  try {
    return await compareSides(name, stand.slices, { ours: ours.side, limit }, notes);
  } finally {
    ours.close();
    connections.forEach((connection) => connection.release());
  }
}
