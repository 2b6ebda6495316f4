import { compareSides, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import { closedLoop } from '../load.js';
import type { Stand } from '../stand.js';

const CONNECTIONS = 32;
/** Enough operations that hardly any two requests in flight read the same one. */
const OPERATIONS = 256;

/**
 * Compares GET /operations/{id} with its bearer check, for one operation and for many, with a bare node:http server
 * with one prepared statement for token and row.
 */
export async function reads(stand: Stand): Promise<Finding[]> {
  const apiUrl = await stand.app('api');
  const { url: limitUrl } = await stand.limit('read-server', [stand.adminUrl]);
  const count = stand.sized(OPERATIONS, OPERATIONS, 2);
  const requests: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = await begun(stand, apiUrl, `bench-${n}`, limitUrl);
    requests.push(requestText('GET', `/api/v1/operations/${id}`, stand.bearer));
  }
  return [
    await beside(stand, 'an operation', { ours: apiUrl, limit: limitUrl }, requests.slice(0, 1)),
    await beside(stand, `${count} operations`, { ours: apiUrl, limit: limitUrl }, requests),
  ];
}

/** Creates a rollout that no worker runs. @returns the id of its operation */
async function begun(stand: Stand, apiUrl: string, name: string, endpoint: string): Promise<string> {
  const slipway = stand.client(apiUrl);
  await slipway.deployments.create({ name });
  const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: endpoint } };
  return (await slipway.deployments.rollouts.create(name, { spec, strategy: { type: 'candidate' } })).operation.id;
}

async function beside(
  stand: Stand,
  what: string,
  urls: { ours: string; limit: string },
  requests: readonly string[],
): Promise<Finding> {
  let sent = 0;
  const next = (): string => requests[(sent += 1) % requests.length] as string;
  const ours = await closedLoop(urls.ours, CONNECTIONS, 200, next);
  const limit = await closedLoop(urls.limit, CONNECTIONS, 200, next);
  const finding = await compareSides(
    `reads: GET ${what}`,
    stand.slices,
    { ours: ours.side, limit: limit.side },
    `limit: bare node:http + pg, one named statement for token and row, no roles; ${CONNECTIONS} connections`,
  );
  ours.close();
  limit.close();
  return finding;
}
