import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Agent, request } from 'undici';
import { Stack } from '../harness/stack.js';
import { median, percentile, steadily } from './isolation-times.js';

jest.setTimeout(300_000);

const SIMULATOR = fileURLToPath(new URL('../../../../tools/inference-sim/dist/main.js', import.meta.url));
const ROUNDS = 3;
const IDLE_MS = 2_500;
const SETTLE_MS = 700;
const BUSY_MS = 4_000;
const PER_SECOND = { reads: 20, writes: 5 };
/** The quiet tenant changes this many deployments in turn, so that it does not wait for itself. */
const WRITTEN = 10;
/** Two pages of the audit log, and two of an event stream. */
const CHANGES = 400;
const ROLLED_OUT = 20;

/** The answer that a pattern must get, and how often in a round, or it was no load. */
const PATTERNS = {
  audit: { answer: '200', least: 20 },
  patches: { answer: '200', least: 20 },
  streams: { answer: '200', least: 20 },
  filters: { answer: '200', least: 20 },
  rollouts: { answer: '202', least: 5 },
  uploads: { answer: '200', least: 5 },
} as const;

type Pattern = keyof typeof PATTERNS;
type Measure = keyof typeof PER_SECOND;
type Milliseconds = Record<Measure, number[]>;

let stack: Stack;
let busy: ChildProcess;
let engine: ChildProcess;
let target: object;
let quietToken: string;
const quiet = new Agent({ connections: 16, keepAliveTimeout: 60_000, keepAliveMaxTimeout: 60_000 });
const unexpected: Record<string, number> = {};

/** It compares times, so it runs alone, by `npm run isolation`, and never concurrently with other suites. */
const alone = process.env['SLIPWAY_TEST_ISOLATION'] ? it : it.skip;

beforeAll(async () => {
  if (alone === it.skip) return;
  const config = () => 'targets: [{name: adopted, kind: endpoint, allow: ["http://127.0.0.1:*"]}]\n';
  stack = await Stack.start({ config });
  busy = fork(fileURLToPath(new URL('./isolation-patterns.mjs', import.meta.url)), { execArgv: [] });
  engine = spawn(process.execPath, [SIMULATOR, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(engine.stdout!, 'data')) as [Buffer];
  target = await prepareBusy(/url=(\S+)/.exec(String(line))![1] as string);
  quietToken = (await stack.slipway().tenants.create({ name: 'quiet' })).token!;
  const names = ['read', ...Array.from({ length: WRITTEN }, (_, index) => `written-${index}`)];
  for (const name of names) await stack.as(quietToken).deployments.create({ name });
});
afterAll(async () => {
  busy?.kill('SIGKILL');
  engine?.kill('SIGKILL');
  await quiet.close();
  await stack?.stop();
});

alone.each(Object.keys(PATTERNS) as Pattern[])(
  'a tenant within its limits that sends %s at once does not slow down reads and writes of another',
  async (pattern) => {
    const counts: Record<string, number> = {};
    const rounds: Record<'idle' | 'busy', Record<Measure, number[]>> = { idle: noTimes(), busy: noTimes() };
    await measure(1_000);
    for (let round = 0; round < ROUNDS; round += 1) {
      note(rounds.idle, await measure(IDLE_MS));
      busy.send({ pattern, target });
      await measure(SETTLE_MS);
      note(rounds.busy, await measure(BUSY_MS));
      for (const [answer, count] of Object.entries(await end())) counts[answer] = (counts[answer] ?? 0) + count;
      await measure(SETTLE_MS);
    }
    const p95s = (['reads', 'writes'] as const).map((name) => {
      const [idle, next] = [median(rounds.idle[name]), median(rounds.busy[name])];
      return { measure: name, idle, busy: next, allowed: Math.max(1.5 * idle, idle + 50) };
    });
    process.stderr.write(`isolation, ${pattern}, p95 in ms: ${JSON.stringify({ p95s, rounds, counts })}\n`);
    const { answer, least } = PATTERNS[pattern];
    expect(counts[answer] ?? 0).toBeGreaterThanOrEqual(least * ROUNDS);
    expect(unexpected).toEqual({});
    expect(p95s.filter((one) => one.busy > one.allowed)).toEqual([]);
  },
);

/** Makes everything that the patterns need, for one tenant with many tokens. */
async function prepareBusy(baseUrl: string): Promise<object> {
  const { token } = await stack.slipway().tenants.create({ name: 'busy' });
  const { deployments, sandboxes, tokens } = stack.as(token!);
  const rolledOut = Array.from({ length: ROLLED_OUT }, (_, index) => `rolled-${index}`);
  for (const name of ['changed', ...rolledOut]) await deployments.create({ name });
  for (let change = 0; change < CHANGES; change += 1)
    await deployments.update('changed', { display_name: `Version ${change}` });
  const more = [token];
  for (let index = 0; index < 9; index += 1)
    more.push((await tokens.create({ name: `t${index}`, scopes: ['admin'] })).token);
  return {
    api: { port: Number(new URL(stack.apiUrl()).port), token },
    tokens: more,
    deployment: 'changed',
    rolledOut,
    baseUrl,
    sandbox: (await sandboxes.create()).id,
  };
}

/** Ends the load and returns its answers. */
async function end(): Promise<Record<string, number>> {
  const ended = once(busy, 'message') as Promise<[{ counts: Record<string, number> }]>;
  busy.send({});
  return (await ended)[0].counts;
}

/** The quiet tenant at a steady rate that does not wait for answers. */
async function measure(ms: number): Promise<Milliseconds> {
  const times = noTimes();
  let writes = 0;
  await Promise.all([
    steadily(PER_SECOND.reads, ms, () => time(times.reads, 'GET', '/api/v1/deployments/read')),
    steadily(PER_SECOND.writes, ms, () => {
      writes += 1;
      const path = `/api/v1/deployments/written-${writes % WRITTEN}`;
      return time(times.writes, 'PATCH', path, `{"display_name":"${Date.now()} ${writes}"}`);
    }),
  ]);
  return times;
}

async function time(into: number[], method: 'GET' | 'PATCH', path: string, body?: string): Promise<void> {
  const headers = { authorization: `Bearer ${quietToken}`, ...(body && { 'content-type': 'application/json' }) };
  const began = performance.now();
  const answer = await request(stack.apiUrl() + path, { method, dispatcher: quiet, headers, body });
  const text = await answer.body.text();
  into.push(performance.now() - began);
  if (answer.statusCode === 200) return;
  const what = `${answer.statusCode} ${text.slice(0, 200)}`;
  unexpected[what] = (unexpected[what] ?? 0) + 1;
}

function noTimes(): Milliseconds {
  return { reads: [], writes: [] };
}

function note(rounds: Record<Measure, number[]>, times: Milliseconds): void {
  for (const name of ['reads', 'writes'] as const) rounds[name].push(percentile(times[name], 0.95));
}
