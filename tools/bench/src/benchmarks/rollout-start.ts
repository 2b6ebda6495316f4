import { setTimeout as delay } from 'node:timers/promises';
import { exactFigure, figureOfEvents } from '../figure.js';
import { compareFigures, type Finding } from '../finding.js';
import type { Stand } from '../stand.js';

/** The limit of the design for the median. */
const WANTED_MS = 50;

/** Measures rollouts one at a time on an idle stack: the time from acceptance to the first step. */
export async function rolloutStart(stand: Stand): Promise<Finding[]> {
  const slipway = stand.client(await stand.app('api'));
  await stand.app('worker');
  const { url: upstream } = await stand.limit('upstream');
  const stored: number[] = [];
  const seen: number[] = [];
  const rollouts = stand.sized(100, 30, 2);
  for (let i = -3; i < rollouts; i += 1) {
    await slipway.deployments.create({ name: `start-${i + 3}` });
    const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: upstream } };
    const { operation } = await slipway.deployments.rollouts.create(`start-${i + 3}`, {
      spec,
      strategy: { type: 'candidate' },
    });
    const accepted = performance.now();
    while (!(await slipway.operations.get(operation.id)).steps[0]?.started_at) await delay(1);
    const waited = performance.now() - accepted;
    const { rows } = await stand.admin.query<{ ms: number }>(
      `select extract(epoch from s.started_at - o.created_at)::float8 * 1000 as ms from operations o join operation_steps s on s.operation_id = o.id and s.index = 0 where o.id = $1`,
      [operation.id],
    );
    // The first ones open connections and compile.
    if (i >= 0) {
      stored.push(rows[0]!.ms);
      seen.push(waited);
    }
    await slipway.operations.wait(operation.id, { limitMs: 30_000 });
  }
  const row = (name: string, values: number[], notes: string): Finding =>
    compareFigures(name, figureOfEvents('ms', values), exactFigure('ms', WANTED_MS), notes);
  return [
    row(
      'rollout-start: created_at → started_at',
      stored,
      `of ${rollouts} rollouts, one at a time; both times are from Postgres, at the start of the two transactions; limit: the required median`,
    ),
    row(
      'rollout-start: 202 → a client sees it',
      seen,
      'from the arrival of the 202 until GET /operations/{id} shows the first step started (one request in flight, 1 ms between)',
    ),
  ];
}
