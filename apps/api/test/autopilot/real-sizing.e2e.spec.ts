import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { Agent, request } from 'undici';
import { ROOT, Stack, until } from '../harness/stack.js';

/*
 * One instance where two are needed, for each reason for which load makes requests slow: in real time, with real
 * processes, next to the simulation of the same requests. Other work on the machine changes the times.
 */

const MINUTES = 26;
const WINDOW_MINUTES = 8;
const PATIENCE_MS = 60_000;
/** A larger difference than this between both says that the simulation leaves something out. */
const TOLERANCE = 0.15;
const SIMULATION = path.join(ROOT, 'tools/autopilot-simulation/dist/schedule.js');
const OPTIONS = {
  'first-seed': 7_001,
  minutes: MINUTES,
  'window-minutes': WINDOW_MINUTES,
  'truth-minutes': 20,
  'truth-runs': 2,
  'patience-s': PATIENCE_MS / 1_000,
};

jest.setTimeout((MINUTES + 15) * 60_000);

interface Value {
  value: number;
}

interface Case {
  profile: string;
  metric: 'ttft_ms' | 'itl_ms';
  constants: Record<string, number>;
  threshold: number;
  requests: [at: number, inputTokens: number, outputTokens: number][];
  diagnosis: { cause: string; value: Value; predicted: Value; replicas: { needed: number; atRate: number } };
}

let stack: Stack;
let slipway: Slipway;
let cases: Case[];
const agent = new Agent({ connections: 2_000, pipelining: 1 });

beforeAll(async () => {
  const args = Object.entries(OPTIONS).map(([name, value]) => `--${name}=${value}`);
  const { stdout } = await promisify(execFile)(process.execPath, [SIMULATION, ...args], { maxBuffer: 2 ** 26 });
  cases = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
  stack = await Stack.start({ gateway: true, env: { SLIPWAY_GATEWAY_CONCURRENCY: '10000' } });
  slipway = stack.slipway();
});
afterAll(async () => {
  await agent.close();
  await stack?.stop();
});

async function deploy({ profile, metric, constants, threshold }: Case): Promise<void> {
  const engineArgs = Object.entries(constants)
    .filter(([name]) => !/^(?:in|out)put-/.test(name))
    .map(([name, value]) => [name.replaceAll('-', '_'), value]);
  const args = { ...Object.fromEntries(engineArgs), tokens: 100_000 };
  await slipway.deployments.create({ name: profile });
  const spec = { model: { id: profile }, runtime: { target: 'local', engine: 'sim', args } };
  await slipway.operations.wait(await stack.rollOut(profile, { spec, strategy: { type: 'immediate' } }));
  await slipway.deployments.policy.set(profile, {
    mode: 'observe',
    slos: [{ metric, stat: 'p95', threshold }],
    evidence: { min_samples: 50, min_duration_seconds: 60 * WINDOW_MINUTES, confidence: 0.95 },
  });
}

/** Sends one request as a stream. Its client leaves if no token comes. @returns its status, 0 if the client left */
async function ask(model: string, inputTokens: number, outputTokens: number): Promise<number> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  try {
    const { statusCode, body } = await request(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      signal: patience.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: outputTokens,
        messages: [{ role: 'user', content: 'word'.repeat(inputTokens) }],
      }),
    });
    for await (const chunk of body) if (String(chunk).includes('"content"')) clearTimeout(timer);
    return statusCode;
  } catch (error) {
    if (patience.signal.aborted) return 0;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Sends all requests at their times. @returns how many got each status */
async function send({ profile, requests }: Case, startAt: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const asked = requests.map(async ([at, inputTokens, outputTokens]) => {
    await delay(startAt + at - performance.now());
    const status = await ask(profile, inputTokens, outputTokens);
    counts[status] = (counts[status] ?? 0) + 1;
  });
  await Promise.all(asked);
  return counts;
}

/** The diagnosis of the first window that lies in the busiest time as a whole. */
async function diagnosed({ profile }: Case, busyAt: number) {
  let found: Awaited<ReturnType<typeof slipway.autopilot.diagnosis.get>> | undefined;
  const isThere = async (): Promise<boolean> => {
    found = await slipway.autopilot.diagnosis.get(profile);
    return Date.parse(found.window?.from ?? '') >= busyAt;
  };
  await until('its window is of the busiest time', isThere, 60_000 * (WINDOW_MINUTES + 4));
  return found!.slos[0]!;
}

it('says of real traffic what it says in the simulation', async () => {
  expect(cases.map(({ profile }) => profile)).toEqual(['queueing', 'prefill', 'token-time']);
  for (const one of cases) await deploy(one);
  const startAt = performance.now() + 1_000;
  const busyAt = Date.now() + 1_000 + 60_000 * (MINUTES - WINDOW_MINUTES);
  const sent = cases.map((one) => send(one, startAt));
  await delay(60_000 * (MINUTES - WINDOW_MINUTES));
  const real = await Promise.all(cases.map((one) => diagnosed(one, busyAt)));
  const outside: string[] = [];
  for (const [at, { profile, diagnosis: simulated }] of cases.entries()) {
    const { cause, value, predicted, replicas } = real[at]!;
    expect([profile, cause]).toEqual([profile, simulated.cause]);
    expect(Math.abs(replicas.needed! - simulated.replicas.needed)).toBeLessThanOrEqual(1);
    const pairs = {
      value: [value!.value, simulated.value.value],
      'peak rate': [replicas.at_rate!, simulated.replicas.atRate],
      ...(replicas.needed === simulated.replicas.needed && {
        predicted: [predicted!.value, simulated.predicted.value],
      }),
    };
    for (const [name, [is, was]] of Object.entries(pairs)) {
      const line = `${profile}: ${name} ${is!.toFixed(2)}, simulated ${was!.toFixed(2)}, ratio ${(is! / was!).toFixed(3)}`;
      process.stdout.write(`${line}\n`);
      if (Math.abs(is! / was! - 1) > TOLERANCE) outside.push(line);
    }
    process.stdout.write(
      `${profile}: ${replicas.needed} instances needed, simulated ${simulated.replicas.needed}; answers ${JSON.stringify(await sent[at])}\n`,
    );
    expect(Object.keys(await sent[at]!).filter((status) => !['0', '200'].includes(status))).toEqual([]);
  }
  expect(outside).toEqual([]);
});
