import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '@slipway/platform-database/testing';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(300_000);

/** Prometheus itself adds these metrics and labels. */
const OF_PROMETHEUS = new Set(['up', 'ALERTS']);
const OF_SCRAPES = new Set(['job', 'instance']);

/** The label names of each metric that a process shows. */
type MetricLabels = Map<string, Set<string>>;

let stack: Stack;
let workerPort: number;

beforeAll(async () => {
  stack = await Stack.start({ workers: 0, gateway: true });
  workerPort = await freePort();
  stack.spawn('worker', 0, { SLIPWAY_METRICS_PORT: String(workerPort) });
});
afterAll(() => stack?.stop());

async function shown(): Promise<MetricLabels> {
  const metrics: MetricLabels = new Map();
  for (const origin of [stack.apiUrl(), stack.gatewayUrl, `http://127.0.0.1:${workerPort}`]) {
    const answer = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${stack.token}` } }).catch(
      () => undefined,
    );
    for (const line of (await answer?.text())?.split('\n') ?? []) {
      const [, name, labels = ''] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? /i.exec(line) ?? [];
      if (name === undefined) continue;
      const known = metrics.get(name) ?? new Set();
      for (const [, label] of labels.matchAll(/([a-z_]+)="/g)) known.add(label!);
      metrics.set(name, known);
    }
  }
  return metrics;
}

function send(model: string, token = stack.token): Promise<unknown> {
  return fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  }).then((answer) => answer.text());
}

it('every metric and label of alerts and dashboards exists on a running stack, and docs/metrics.md lists each', async () => {
  const used = JSON.parse(
    execFileSync(process.execPath, [path.join(ROOT, 'tools/observability/queries.mjs')], { encoding: 'utf8', env: {} }),
  ) as Record<string, string[]>;
  const wanted = Object.entries(used).filter(([metric]) => !OF_PROMETHEUS.has(metric) && !metric.includes(':'));
  expect(wanted.length).toBeGreaterThan(50);
  const missing = (metrics: MetricLabels): string[] =>
    wanted.flatMap(([metric, labels]) => {
      const own = metrics.get(metric);
      if (!own) return [metric];
      return labels.filter((label) => !own.has(label) && !OF_SCRAPES.has(label)).map((label) => `${metric}{${label}}`);
    });

  const scaling = { min_replicas: 1, max_replicas: 2, target_in_flight: 1 };
  const engine = (args: object) => ({ model: { id: 'tiny' }, runtime: { target: 'local', engine: 'sim', args } });
  await stack.slipway().deployments.create({ name: 'chat' });
  await stack.slipway().deployments.create({ name: 'broken' });
  const strategy = { type: 'immediate' };
  const begun = [
    await stack.rollOut('chat', { spec: { ...engine({ ttft_ms: 1_000 }), scaling }, strategy }),
    await stack.rollOut('broken', { spec: engine({ error_rate: 0.5 }), strategy }),
  ];
  for (const id of begun) expect(await stack.operation(id, undefined, 150_000)).toMatchObject({ status: 'succeeded' });

  // More requests than two instances are to have, until everything was counted.
  let isOver = false;
  const load = Array.from({ length: 5 }, async (_, index) => {
    while (!isOver) await send(index === 4 ? 'broken' : 'chat');
  });
  await send('chat', 'slw_wrong');
  let left: string[] = [];
  let metrics: MetricLabels = new Map();
  try {
    await until(
      'all metrics exist',
      async () => {
        metrics = await shown();
        left = missing(metrics);
        return left.length === 0;
      },
      120_000,
      () => left.join(', '),
    );
  } finally {
    isOver = true;
    await Promise.all(load);
  }

  const page = readFileSync(path.join(ROOT, 'docs/metrics.md'), 'utf8');
  const names = [...metrics.keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
  const listed = new Set([...page.matchAll(/`(slipway_[a-z_]+)`/g)].map(([, name]) => name));
  expect(names.filter((name) => name.startsWith('slipway_') && !listed.has(name))).toEqual([]);
});
