import { cpuSecondsOf } from '../cpu-time.js';
import { compareRounds, skippedFinding, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import { closedLoop } from '../load.js';
import { interleave, type Side } from '../measure.js';
import type { Stand } from '../stand.js';

const CONNECTIONS = 32;
const LIMIT = 'bare';
/** Number of items of each listed resource, enough for every requested page. */
const LISTED = 70;

/**
 * Compares the processor time of the api alone for one request, per GET, with a bare node:http server with one prepared
 * statement.
 */
export async function getCosts(stand: Stand): Promise<Finding[]> {
  const { url, pid } = await stand.process('api');
  if (Number.isNaN(cpuSecondsOf(pid))) return [skippedFinding('get-costs', 'no /proc here')];
  const operation = await fill(stand, url);
  const bare = await stand.limit('read-server', [stand.adminUrl]);
  const events = '/api/v1/deployments/bench/events';
  const targets: Record<string, string | string[]> = {
    healthz: '/healthz',
    whoami: '/api/v1/whoami',
    'an operation': `/api/v1/operations/${operation}`,
    operations: '/api/v1/operations',
    revisions: '/api/v1/deployments/bench/revisions',
    'a route': '/api/v1/deployments/bench/route',
    'a page of events': `${events}?limit=50`,
    'a deployment': '/api/v1/deployments/bench',
    deployments: '/api/v1/deployments',
    'each another page of events': differentPages(events),
    'each other operations': differentPages('/api/v1/operations'),
    'each other deployments': differentPages('/api/v1/deployments'),
  };
  const loops: { close(): void }[] = [];
  const side = async (base: string, of: number, target: string | string[]): Promise<Side> => {
    const requests = [target].flat().map((one) => requestText('GET', one, stand.bearer));
    let sent = 0;
    const next = (): string => requests[(sent += 1) % requests.length] as string;
    const loop = await closedLoop(base, CONNECTIONS, 200, next);
    loops.push(loop);
    return async (ms) => {
      const before = { cpu: cpuSecondsOf(of), at: performance.now() };
      const rate = await loop.side(ms);
      const requests = (rate * (performance.now() - before.at)) / 1_000;
      return ((cpuSecondsOf(of) - before.cpu) * 1_000_000) / requests;
    };
  };
  const sides: Record<string, Side> = { [LIMIT]: await side(bare.url, bare.pid, targets['an operation'] as string) };
  for (const [name, target] of Object.entries(targets)) sides[name] = await side(url, pid, target);
  const seen = await interleave({ ...stand.slices, rounds: stand.sized(5, 3, 1) }, sides);
  loops.forEach((loop) => loop.close());
  const notes = `processor time of the api for each request, ${CONNECTIONS} connections; limit: bare node:http + pg for an operation; lower is better`;
  return Object.keys(targets).map((name) =>
    compareRounds(`get-costs: ${name}`, 'µs', { ours: seen[name]!, limit: seen[LIMIT]! }, notes),
  );
}

/** Pages of about fifty; no two of them have the same answer. */
function differentPages(target: string): string[] {
  return Array.from({ length: CONNECTIONS }, (_, n) => `${target}?limit=${35 + n}`);
}

/** Creates a deployment that serves, and one page of every other resource. @returns the id of an operation */
async function fill(stand: Stand, apiUrl: string): Promise<string> {
  const slipway = stand.client(apiUrl);
  const worker = await stand.process('worker');
  const { url: upstream } = await stand.limit('upstream');
  await slipway.deployments.create({ name: 'bench' });
  let id = '';
  // Each creates a revision, of which the last ten are kept, and appends some events.
  for (let n = 0; n < stand.sized(10, 10, 1); n += 1) {
    const spec = { model: { id: `m${n}` }, runtime: { target: 'adopted' }, endpoint: { base_url: upstream } };
    const strategy = { type: 'immediate' } as const;
    const { operation } = await slipway.deployments.rollouts.create('bench', { spec, strategy });
    await slipway.operations.wait(operation.id, { limitMs: 30_000 });
    id = operation.id;
  }
  // Otherwise it would reconcile these resources during the measurement.
  await stand.end(worker.pid);
  await stand.admin.query(
    `insert into deployments (id, tenant_id, name, created_by) select 'dep_list' || n, $1, 'list-' || n, '{"type":"token","id":"bench"}' from generate_series(1, $2::int) n`,
    [await stand.operatorTenant(), LISTED],
  );
  await stand.admin.query(
    `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, status, current_step, requested_by, progress, completed_at)
     select 'op_list' || n, $1, 'rollout', 'deployment', 'list-' || n, 'dep_list' || n, 'deployment/dep_list' || n, 'succeeded', 'promote', '{"type":"token","id":"bench"}', 100, now()
     from generate_series(1, $2::int) n`,
    [await stand.operatorTenant(), LISTED],
  );
  await stand.admin.query('analyze');
  return id;
}
