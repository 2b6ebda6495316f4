import type { Slipway } from '@slipway/sdk';
import type { Finding } from '../benchmarks.js';
import { HttpConnection, requestText } from '../http-connection.js';
import { closedLoop, openLoop } from '../load.js';
import { asRatio, compare, inMs, perSecond, quantile } from '../measure.js';
import { startNginx } from '../nginx.js';
import type { Stand } from '../stand.js';

const CONNECTIONS = 32;
const RATE = 500;
const PATH = '/v1/chat/completions';

/** The gateway in front of an upstream that answers at once, against a bare node:http pipe (and nginx if it is installed). */
export async function gateway(stand: Stand): Promise<Finding[]> {
  const slipway = stand.client(await stand.app('api'));
  await stand.app('worker');
  const gatewayUrl = await stand.app('gateway');
  const { url: upstream } = await stand.limit('upstream');
  const { url: pipe } = await stand.limit('pipe-proxy', upstream);
  await deploy(slipway, upstream);
  const body = (stream: boolean) =>
    JSON.stringify({
      model: 'bench',
      messages: [{ role: 'user', content: 'What is a slipway?' }],
      ...(stream ? { stream: true } : {}),
    });
  const json = requestText('POST', PATH, stand.bearer, body(false));
  const sse = requestText('POST', PATH, stand.bearer, body(true));
  await untilServed(gatewayUrl, json);

  const nginx = await startNginx(upstream);
  const findings: Finding[] = [];
  try {
    for (const [name, request] of [
      ['JSON', json],
      ['SSE, 100 chunks', sse],
    ] as const) {
      findings.push(
        await throughput(
          stand,
          `gateway: ${name}`,
          gatewayUrl,
          pipe,
          request,
          'limit: bare node:http pipe without token, route or counting',
        ),
      );
      if (nginx)
        findings.push(
          await throughput(
            stand,
            `gateway: ${name} ÷ nginx`,
            gatewayUrl,
            nginx.url,
            request,
            'limit: nginx with one worker process',
          ),
        );
    }
    findings.push(await addedLatency(stand, { upstream, pipe, gatewayUrl }, json));
  } finally {
    nginx?.stop();
  }
  return findings;
}

async function deploy(slipway: Slipway, upstream: string): Promise<void> {
  await slipway.deployments.create({ name: 'bench' });
  const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: upstream } };
  const { operation } = await slipway.deployments.rollouts.create('bench', { spec, strategy: { type: 'immediate' } });
  await slipway.operations.wait(operation.id, { limitMs: 30_000 });
}

/** The gateway learns of the route by a notification. */
async function untilServed(url: string, request: string): Promise<void> {
  const connection = await HttpConnection.open(url);
  for (const deadline = Date.now() + 15_000; (await connection.send(request)).status !== 200;) {
    if (Date.now() > deadline) throw new Error('the gateway does not serve the deployment');
  }
  connection.close();
}

async function throughput(
  stand: Stand,
  name: string,
  oursUrl: string,
  limitUrl: string,
  request: string,
  notes: string,
): Promise<Finding> {
  const ours = await closedLoop(oursUrl, CONNECTIONS, 200, () => request);
  const limit = await closedLoop(limitUrl, CONNECTIONS, 200, () => request);
  const rates = await compare(stand.slices, ours.side, limit.side);
  ours.close();
  limit.close();
  return {
    name,
    ours: perSecond(rates.ours),
    limit: perSecond(rates.limit),
    ratio: asRatio(rates.ratio),
    notes: `${notes}; ${CONNECTIONS} connections`,
  };
}

async function addedLatency(
  stand: Stand,
  urls: { upstream: string; pipe: string; gatewayUrl: string },
  request: string,
): Promise<Finding> {
  const seen: Record<string, number[]> = {};
  const ms = stand.slices.sliceMs;
  for (let round = -1; round < stand.slices.rounds; round += 1) {
    for (const [name, url] of Object.entries(urls)) {
      const latencies = await openLoop(url, RATE, ms, 200, request);
      if (round >= 0) (seen[name] ??= []).push(...latencies);
    }
  }
  const added = (name: string, q: number): number => quantile(seen[name]!, q) - quantile(seen['upstream']!, q);
  const both = (name: string): string => `${inMs(added(name, 0.5))} / ${inMs(added(name, 0.99))}`;
  return {
    name: 'gateway: added latency',
    ours: both('gatewayUrl'),
    limit: both('pipe'),
    ratio: asRatio(added('gatewayUrl', 0.5) / added('pipe', 0.5)),
    notes: `p50 / p99 above the upstream asked directly, ${RATE} requests/s`,
  };
}
