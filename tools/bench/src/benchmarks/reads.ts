import { compare, type Finding } from '../finding.js';
import { requestText } from '../http-connection.js';
import { closedLoop } from '../load.js';
import type { Stand } from '../stand.js';

const CONNECTIONS = 32;

/** GET /operations/{id} with its bearer check, against bare node:http with one prepared statement for token and row. */
export async function reads(stand: Stand): Promise<Finding[]> {
  const apiUrl = await stand.app('api');
  const slipway = stand.client(apiUrl);
  await slipway.deployments.create({ name: 'bench' });
  const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
  const { operation } = await slipway.deployments.rollouts.create('bench', { spec, strategy: { type: 'candidate' } });
  const limitUrl = (await stand.limit('read-server', [stand.adminUrl])).url;
  const request = requestText('GET', `/api/v1/operations/${operation.id}`, stand.bearer);
  const ours = await closedLoop(apiUrl, CONNECTIONS, 200, () => request);
  const limit = await closedLoop(limitUrl, CONNECTIONS, 200, () => request);
  const finding = await compare(
    'reads: GET an operation',
    stand.slices,
    { ours: ours.side, limit: limit.side },
    `limit: bare node:http + pg, one named statement for token and row, no roles; ${CONNECTIONS} connections`,
  );
  ours.close();
  limit.close();
  return [finding];
}
