import { setTimeout as delay } from 'node:timers/promises';
import type { Slipway } from '@slipway/sdk';
import { compareRounds, compareSides, skippedFinding, type Finding } from '../finding.js';
import { HttpConnection, requestText } from '../http-connection.js';
import { closedLoop, openLoop } from '../load.js';
import { quantile } from '../measure.js';
import { startNginx } from '../nginx.js';
import type { Stand } from '../stand.js';

const CONNECTIONS = 32;
const RATE = 500;
const PATH = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'What is a slipway?' }];

/**
 * Compares the gateway in front of an upstream that answers at once with a bare node:http pipe (and nginx if it is
 * installed).
 */
export async function gateway(stand: Stand): Promise<Finding[]> {
  const { url: upstream } = await stand.limit('upstream');
  const { url: pipe } = await stand.limit('pipe-proxy', [upstream]);
  const pass = await gatewayBefore(stand, upstream);
  const bare = 'limit: bare node:http pipe without token, route or counting';
  const findings: Finding[] = [];
  for (const kind of KINDS) {
    const passes = { ours: pass, limit: { ...pass, url: pipe } };
    findings.push(await measureThroughput(stand, 'gateway', kind, passes, bare));
  }
  const nginx = await startNginx(upstream);
  if (!nginx) findings.push(skippedFinding('gateway ÷ nginx', 'nginx is not on the PATH, or failed to start'));
  try {
    for (const kind of nginx ? KINDS : []) {
      const passes = { ours: pass, limit: { ...pass, url: nginx!.url } };
      findings.push(
        await measureThroughput(stand, 'gateway ÷ nginx', kind, passes, 'limit: nginx with one worker process'),
      );
    }
  } finally {
    nginx?.stop();
  }
  findings.push(await measureAddedLatency(stand, { upstream, pipe, gatewayUrl: pass.url }, pass.requests.JSON));
  return findings;
}

export const KINDS = ['JSON', 'SSE, 100 chunks'] as const;

type Kind = (typeof KINDS)[number];

/** The URLs to which requests of each kind are sent. */
export interface Pass {
  url: string;
  requests: Record<Kind, string>;
}

/** Our gateway with a deployment `bench` in front of an upstream that answers at once. */
export async function gatewayBefore(stand: Stand, upstream: string): Promise<Pass> {
  const slipway = stand.client(await stand.app('api'));
  await stand.app('worker');
  const url = await stand.app('gateway');
  await deploy(slipway, upstream);
  const requests = requestsOf('bench', stand.bearer);
  await waitUntilServed(url, requests.JSON);
  return { url, requests };
}

export function requestsOf(model: string, headers: Record<string, string>): Pass['requests'] {
  const request = (more: object): string =>
    requestText('POST', PATH, headers, JSON.stringify({ model, messages: MESSAGES, ...more }));
  return { JSON: request({}), 'SSE, 100 chunks': request({ stream: true }) };
}

async function deploy(slipway: Slipway, upstream: string): Promise<void> {
  await slipway.deployments.create({ name: 'bench' });
  const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: upstream } };
  const { operation } = await slipway.deployments.rollouts.create('bench', { spec, strategy: { type: 'immediate' } });
  await slipway.operations.wait(operation.id, { limitMs: 30_000 });
}

/** Polls a proxy that has just started, or has just received a route, until it answers. */
export async function waitUntilServed(url: string, request: string): Promise<void> {
  const connection = await HttpConnection.open(url);
  for (const deadline = Date.now() + 15_000; ; await delay(10)) {
    const { status, body } = await connection.send(request);
    if (status === 200) break;
    if (Date.now() > deadline) throw new Error(`${url} serves nothing: ${status} ${body.slice(0, 300)}`);
  }
  connection.close();
}

/** Sends requests of one kind through both; they take turns. */
export async function measureThroughput(
  stand: Stand,
  name: string,
  kind: Kind,
  { ours, limit }: { ours: Pass; limit: Pass },
  notes: string,
): Promise<Finding> {
  const own = await closedLoop(ours.url, CONNECTIONS, 200, () => ours.requests[kind]);
  const bare = await closedLoop(limit.url, CONNECTIONS, 200, () => limit.requests[kind]);
  try {
    const sides = { ours: own.side, limit: bare.side };
    return await compareSides(`${name}: ${kind}`, stand.slices, sides, `${notes}; ${CONNECTIONS} connections`);
  } finally {
    own.close();
    bare.close();
  }
}

async function measureAddedLatency(
  stand: Stand,
  urls: { upstream: string; pipe: string; gatewayUrl: string },
  request: string,
): Promise<Finding> {
  const p50s: Record<string, number[]> = {};
  const all: Record<string, number[]> = {};
  const ms = stand.slices.sliceMs;
  for (let round = -1; round < stand.slices.rounds; round += 1) {
    for (const [name, url] of Object.entries(urls)) {
      const latencies = await openLoop(url, RATE, ms, 200, () => request);
      if (round < 0) continue;
      (p50s[name] ??= []).push(quantile(latencies, 0.5));
      (all[name] ??= []).push(...latencies);
    }
  }
  const added = (name: string): number[] => p50s[name]!.map((value, round) => value - p50s['upstream']![round]!);
  const p99 = (name: string): string =>
    `${(quantile(all[name]!, 0.99) - quantile(all['upstream']!, 0.99)).toFixed(1)} ms`;
  return compareRounds(
    'gateway: added latency',
    'ms',
    { ours: added('gatewayUrl'), limit: added('pipe') },
    `p50 of each slice minus the p50 of direct requests to the upstream, ${RATE} requests/s; p99: ${p99('gatewayUrl')}, limit's ${p99('pipe')}`,
  );
}
