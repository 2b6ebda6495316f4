import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Agent, request } from 'undici';
import { Attack, type AnswerCounts } from './isolation-attack.js';
import { median, percentile, steadily } from './isolation-times.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const SIMULATOR = fileURLToPath(new URL('../../../../tools/inference-sim/dist/main.js', import.meta.url));
const TIMES = 50;
const ROUNDS = 5;
const SETTLE_MS = 2_000;
const PHASE_MS = 5_000;
const PER_SECOND = { reads: 20, inference: 20, rollouts: 2 };
const DEPLOYMENTS = 30;
/** Concurrent inference requests of a tenant: of the hostile one, and of one without a limit of its rate. */
const CONCURRENCY = 10;
const MEASURES = ['reads', 'inference', 'rollouts', 'rolloutStarts'] as const;

/** Small enough that fifty times as much is possible on a machine with two cores, which attackers and servers share. */
const CONFIG = (home: string): string => `
targets:
  - name: local
    kind: process
    max_instances: 16
    engines:
      sim:
        command: ["node", ${JSON.stringify(SIMULATOR)}, "--port", "{port}", "--model", "{model.id}", "--start-log", "${home}/sim-starts.log"]
        args: {ttft_ms: "--ttft-ms={}", itl_ms: "--itl-ms={}", tokens: "--tokens={}"}
        ready: {path: /health, timeout_seconds: 30}
  - name: adopted
    kind: endpoint
    allow: ["http://127.0.0.1:*"]
outbound: {webhooks: ["http://127.0.0.1:*"], sandboxes: ["http://127.0.0.1:*"]}
quotas:
  tenants:
    hostile:
      event_streams: 10
      webhooks: 4
      webhook_deliveries: 500
      reads_per_minute: 60
      mutations_per_minute: 60
      inference_requests_per_minute: 120
      inference_concurrency: ${CONCURRENCY}
    narrow: {inference_concurrency: ${CONCURRENCY}}
`;

/** The answers that each attacker must have got, or it did not run. */
const MET: Record<string, string[]> = {
  streams: ['429 quota_exceeded', '429 rate_limited'],
  reads: ['429 rate_limited'],
  uploads: ['429 rate_limited'],
  pushes: ['200', '429 rate_limited'],
  bodies: ['429 rate_limited'],
  heldBodies: ['429 rate_limited', '503 unavailable'],
  brackets: ['429 rate_limited'],
  events: ['200', '429 rate_limited'],
  webhooks: ['429 rate_limited'],
  inference: ['200', '429 rate_limit_exceeded'],
  prompts: ['429 rate_limit_exceeded'],
  heldPrompts: ['429 rate_limit_exceeded'],
  promptBrackets: ['429 rate_limit_exceeded'],
};
/** The requests to the server that never answers: pushes of files and deliveries of events. */
const HANGING = ['PUT', 'POST'];

type Measure = (typeof MEASURES)[number];
type Milliseconds = Record<Measure, number[]>;
interface Tenant {
  name: string;
  token: string;
}

let stack: Stack;
let attack: Attack;
let engine: ChildProcess;
/** Keep-alive connections, as a service has them. */
const agent = new Agent({ connections: 16, keepAliveTimeout: 60_000, keepAliveMaxTimeout: 60_000 });

beforeAll(async () => {
  stack = await Stack.start({ gateway: true, config: CONFIG });
  attack = await Attack.start();
});
afterAll(async () => {
  attack?.stop();
  engine?.kill('SIGKILL');
  await agent.close();
  await stack?.stop();
});

/** It compares times, so it runs alone, by `npm run isolation`, and never concurrently with other suites. */
const alone = process.env['SLIPWAY_TEST_ISOLATION'] ? it : it.skip;

alone(
  'a tenant at 50 times its limits does not raise the p95 of another above its p95 next to the same tenant at its limits',
  async () => {
    const [hostile, narrow, quiet] = [await tenant('hostile'), await tenant('narrow'), await tenant('quiet')];
    const slow = { ttft_ms: 1_200, itl_ms: 100, tokens: 8 };
    await Promise.all([serve(hostile, 'greedy', slow), serve(narrow, 'narrow', slow), serve(quiet, 'calm', {})]);
    // Tested with another tenant: the hostile tenant's rate limit refuses most of its requests before this limit can.
    expect(await refusedAtOnce(narrow, 'narrow', 2 * CONCURRENCY)).toBe(CONCURRENCY);
    await aim(hostile);
    const client = await QuietClient.start(quiet);

    // A minute's worth of requests may be sent at once: the comparison needs a tenant that has none of them left.
    const answers: Record<string, AnswerCounts> = {};
    await attack.round(TIMES);
    await client.measure(4 * SETTLE_MS);
    const beside = { limits: noTimes(), attack: noTimes() };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const phase of ['limits', 'attack'] as const) {
        add(answers, await attack.round(phase === 'attack' ? TIMES : 1));
        await client.measure(SETTLE_MS);
        const times = await client.measure(PHASE_MS);
        for (const measure of MEASURES) beside[phase][measure].push(percentile(times[measure], 0.95));
      }
    }
    add(answers, await attack.round(1));

    const p95s = MEASURES.map((measure) => {
      const [limits, attacked] = [median(beside.limits[measure]), median(beside.attack[measure])];
      return { measure, limits, attacked, allowed: Math.max(1.5 * limits, limits + 50) };
    });
    process.stderr.write(`isolation, p95 in ms: ${JSON.stringify({ p95s, rounds: beside, answers })}\n`);
    expect(client.unexpected).toEqual({});
    expect(Object.keys(answers['silent'] ?? {})).toEqual(expect.arrayContaining(HANGING));
    for (const [attacker, met] of Object.entries(MET)) {
      expect([attacker, Object.keys(answers[attacker] ?? {})]).toEqual([attacker, expect.arrayContaining(met)]);
      expect([attacker, sum(answers[attacker]) >= TIMES]).toEqual([attacker, true]);
    }
    expect(p95s.filter(({ attacked, allowed }) => attacked > allowed)).toEqual([]);
  },
);

async function tenant(name: string): Promise<Tenant> {
  return { name, token: (await stack.slipway().tenants.create({ name })).token! };
}

/** Makes a deployment whose route leads to a ready revision of the simulator. */
async function serve(who: Tenant, name: string, args: Record<string, number>): Promise<void> {
  const { deployments } = stack.as(who.token);
  await deployments.create({ name });
  const spec = { model: { id: name }, runtime: { target: 'local', engine: 'sim', args } };
  await deployments.rollouts.create(name, { spec, strategy: { type: 'immediate' } });
  await until(
    `${name} answers`,
    async () => (await chat(who, name)) === 200,
    30_000,
    () => stack.logOf('worker'),
  );
}

async function chat(who: Tenant, model: string): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] });
  return (await send('POST', `${stack.gatewayUrl}/v1/chat/completions`, who, body)).status;
}

/** Returns how many of `count` concurrent requests the concurrency limit refuses. */
async function refusedAtOnce(who: Tenant, model: string, count: number): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] });
  const url = `${stack.gatewayUrl}/v1/chat/completions`;
  const burst = new Agent({ connections: count });
  const ask = async () => {
    const headers = { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' };
    const answer = await request(url, { method: 'POST', dispatcher: burst, headers, body });
    return (await answer.body.text()).includes('concurrency_limit_exceeded');
  };
  const refused = await Promise.all(Array.from({ length: count }, ask));
  await burst.close();
  return refused.filter(Boolean).length;
}

async function send(method: 'GET' | 'POST', url: string, who: Tenant, body?: string) {
  const headers = { authorization: `Bearer ${who.token}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await request(url, { method, dispatcher: agent, headers, body });
  return { status: answer.statusCode, text: await answer.body.text() };
}

async function aim(hostile: Tenant): Promise<void> {
  const silent = `http://127.0.0.1:${attack.silentPort}`;
  const receiver = `${silent}/hook`;
  const { sandboxes, webhooks } = stack.as(hostile.token);
  for (let index = 0; index < 4; index += 1) await webhooks.create({ url: receiver });
  const reference = { provider: 'custom' as const, base_url: silent, external_id: 'far', credential: 'secret' };
  attack.aim({
    api: Number(new URL(stack.apiUrl()).port),
    gateway: Number(new URL(stack.gatewayUrl).port),
    token: hostile.token,
    model: 'greedy',
    sandbox: (await sandboxes.create()).id,
    external: (await sandboxes.references.create(reference)).sandbox_id,
    receiver,
  });
}

/** A client at a steady rate that does not wait for answers, on deployments of its own. */
class QuietClient {
  /** Unexpected answers, counted by kind. */
  readonly unexpected: AnswerCounts = {};
  private rollouts = 0;

  private constructor(
    private readonly who: Tenant,
    private readonly baseUrl: string,
    private readonly deployments: readonly string[],
  ) {}

  static async start(who: Tenant): Promise<QuietClient> {
    const names = Array.from({ length: DEPLOYMENTS }, (_, index) => `calm-${index}`);
    for (const name of names) await stack.as(who.token).deployments.create({ name });
    const client = new QuietClient(who, await startEngine(), names);
    await client.connect();
    return client;
  }

  /** Connects before there is an attack: it measures how it is served, and not how it connects. */
  private async connect(): Promise<void> {
    const times = noTimes();
    await Promise.all(Array.from({ length: 16 }, () => [this.read(times), this.infer(times)]).flat());
  }

  async measure(ms: number): Promise<Milliseconds> {
    const times = noTimes();
    const operations: string[] = [];
    await Promise.all([
      steadily(PER_SECOND.reads, ms, () => this.read(times)),
      steadily(PER_SECOND.inference, ms, () => this.infer(times)),
      steadily(PER_SECOND.rollouts, ms, () => this.rollOut(times, operations)),
    ]);
    times.rolloutStarts = await startsOf(operations);
    return times;
  }

  private async read(times: Milliseconds): Promise<void> {
    await this.time(times.reads, 200, () => send('GET', `${stack.apiUrl()}/api/v1/deployments/calm`, this.who));
  }

  private async infer(times: Milliseconds): Promise<void> {
    await this.time(times.inference, 200, async () => ({ status: await chat(this.who, 'calm'), text: '' }));
  }

  private async rollOut(times: Milliseconds, operations: string[]): Promise<void> {
    const number = this.rollouts++;
    const url = `${stack.apiUrl()}/api/v1/deployments/${this.deployments[number % this.deployments.length]}/rollouts`;
    const body = JSON.stringify({
      spec: { model: { id: `m-${number}` }, runtime: { target: 'adopted' }, endpoint: { base_url: this.baseUrl } },
      strategy: { type: 'immediate' },
      keep_previous_seconds: 0,
    });
    const text = await this.time(times.rollouts, 202, () => send('POST', url, this.who, body));
    if (text !== undefined) operations.push(JSON.parse(text).operation.id);
  }

  private async time(
    into: number[],
    expected: number,
    ask: () => Promise<{ status: number; text: string }>,
  ): Promise<string | undefined> {
    const began = performance.now();
    const { status, text } = await ask().catch((error: Error) => ({ status: 0, text: error.message }));
    into.push(performance.now() - began);
    if (status === expected) return text;
    const what = `${status} ${text.slice(0, 200)}`;
    this.unexpected[what] = (this.unexpected[what] ?? 0) + 1;
    return undefined;
  }
}

/** Returns the time from the acceptance of each operation to the start of its first step, by Postgres' clock. */
async function startsOf(operations: string[]): Promise<number[]> {
  let rows: { ms: number | null }[] = [];
  await until('every rollout has begun', async () => {
    rows = await stack.query(
      `SELECT 1000 * extract(epoch FROM step.started_at - operation.created_at)::float8 AS ms
         FROM operations operation JOIN operation_steps step ON step.operation_id = operation.id AND step.index = 0 AND NOT step.is_unwind
        WHERE operation.id = ANY($1)`,
      [operations],
    );
    return rows.length === operations.length && rows.every(({ ms }) => ms !== null);
  });
  return rows.map(({ ms }) => ms as number);
}

/** Starts one server that the rollouts adopt, so that they need no process each. */
async function startEngine(): Promise<string> {
  engine = spawn(process.execPath, [SIMULATOR, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(engine.stdout!, 'data')) as [Buffer];
  return /url=(\S+)/.exec(String(line))![1] as string;
}

function noTimes(): Milliseconds {
  return { reads: [], inference: [], rollouts: [], rolloutStarts: [] };
}

function add(sums: Record<string, AnswerCounts>, counts: Record<string, AnswerCounts>): void {
  for (const [attacker, answers] of Object.entries(counts)) {
    const own = (sums[attacker] ??= {});
    for (const [answer, count] of Object.entries(answers)) own[answer] = (own[answer] ?? 0) + count;
  }
}

const sum = (answers: AnswerCounts = {}): number => Object.values(answers).reduce((all, count) => all + count, 0);
