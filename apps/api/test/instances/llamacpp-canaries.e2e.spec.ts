import { execFileSync, spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Operation, Slipway } from '@slipway/sdk';
import { EngineServers } from '../harness/engine-servers.js';
import { Load, type LoadAnswer, type InferenceLoadOptions } from '@slipway/platform-testing/load';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(240_000);

/*
 * Canaries between servers of llama.cpp, with the requests of many clients. All that differs between the two revisions
 * is what a canary is about, and no canary has a gate of its own unless it says so.
 */

/** llama.cpp's own server, built by `node tools/llamacpp/build.mjs`; `.ci/nightly` sets it. */
const PROGRAM = process.env['SLIPWAY_TEST_LLAMA_SERVER'];
const KEYS = { right: 'key-of-the-servers', wrong: 'key-of-other-servers' };
const CONFIG = {
  targets: [{ name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'], profile: { extends: 'llamacpp' } }],
  secrets: { right: { env: 'RIGHT_KEY' }, wrong: { env: 'WRONG_KEY' } },
};
/**
 * Sessions are divided by chance, so only many of them give both revisions the same mix of clients. A prime number, so
 * that every session has streams too.
 */
const SESSIONS = 97;
const PATIENCE_MS = 4_000;
/** Two slow cores compute the answers of one stable server and its candidates for no more canaries. */
const AT_ONCE = 3;
const LIMIT_MS = 120_000;

const PICTURE_SHARE = 0.085;
const PICTURE = [
  { type: 'text', text: 'what is this?' },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
];
const LONG_PROMPT = 'a question about a long text '.repeat(40);
const TOOLS = [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }];

const sessionOf = (index: number) => (index * 37) % SESSIONS;
/** The clients with every third session send something else. */
const isOdd = (index: number) => sessionOf(index) % 3 === 0;
const says = (content: unknown) => ({ messages: [{ role: 'user', content }] });
/** Spread over all clients and streams: the fraction of the index times the golden ratio is evenly distributed. */
const hasPicture = (index: number) => (index * 0.618034) % 1 < PICTURE_SHARE;

const ALL_PASS = { error_rate: 'pass', client_error_rate: 'pass', overloaded_rate: 'pass', abandoned_rate: 'pass' };

interface ServerOptions {
  /** Tokens of a request and its answer. */
  context?: number;
  args?: readonly string[];
}

interface Canary {
  candidate: { base_url: string; credential_ref?: string };
  perSecond?: number;
  soakSeconds?: number;
  percent?: number;
  members?: (index: number) => object;
  analysis?: object;
}

type ChatAnswer = (response: ServerResponse, url: string) => void;
const silence: ChatAnswer = () => undefined;
const redirect: ChatAnswer = (response, location) => response.writeHead(307, { location }).end();
/** Slipway's own request shows that the candidate is ready; only that one is answered. */
const allClients = (count: number) => count > 1;

interface CanaryResult {
  record: any;
  /** Revisions with traffic, after the end. */
  route: [string, number][];
  answers: LoadAnswer[];
}

(PROGRAM ? describe : describe.skip)('canaries between servers of llama.cpp', () => {
  let stack: Stack;
  let slipway: Slipway;
  let model: string;
  let stableUrl: string;
  const servers = new EngineServers();

  beforeAll(async () => {
    const env = { RIGHT_KEY: KEYS.right, WRONG_KEY: KEYS.wrong };
    stack = await Stack.start({ gateway: true, config: () => JSON.stringify(CONFIG), env });
    slipway = stack.slipway();
    model = path.join(stack.home, 'models/tiny.gguf');
    execFileSync(process.execPath, [path.join(ROOT, 'tools/llamacpp/tiny-model.mjs'), model]);
    stableUrl = (await serve()).url;
  });
  afterAll(async () => {
    servers.stop();
    await stack?.stop();
  });

  /** Starts a server, as its operator would. */
  async function serve({ context = 2_048, args = ['--jinja'] }: ServerOptions = {}) {
    const SLOTS = 4;
    const argv = (port: number) => [
      ...['--model', model, '--alias', 'tiny', '--host', '127.0.0.1', '--port', String(port), '--threads', '1'],
      ...['--parallel', String(SLOTS), '--ctx-size', String(SLOTS * context), '--no-ui', '--offline'],
      ...['--chat-template', 'chatml', ...args],
    ];
    return servers.start(PROGRAM as string, argv, { env: { LLAMA_API_KEY: KEYS.right } });
  }

  /** Puts a proxy in front of a server. It leaves the chat requests that `takes` accepts, by their number, to `answer`. */
  async function proxyTo(url: string, takes: (count: number) => boolean, answer: ChatAnswer) {
    const base_url = await servers.proxyTo(url, (response, { count, url: to }) => {
      if (!takes(count)) return false;
      answer(response, to);
      return true;
    });
    return { base_url };
  }

  const specOf = ({ base_url, credential_ref = 'right' }: Canary['candidate']) => ({
    model: { id: 'tiny' },
    runtime: { target: 'adopted' },
    endpoint: { base_url, credential_ref },
  });

  /** Waits for the end of an operation, or for its pause, which no canary here should reach. */
  async function decided(id: string): Promise<any> {
    let record: Operation | undefined;
    const isDecided = async () => {
      record = await slipway.operations.get(id);
      return record.completed_at !== null || record.awaiting === 'pause';
    };
    await until(`${id} has ended`, isDecided, LIMIT_MS, () => JSON.stringify(record));
    return record;
  }

  async function run(
    name: string,
    { candidate, perSecond = 8, soakSeconds = 20, percent = 50, members, analysis }: Canary,
  ): Promise<CanaryResult> {
    await slipway.deployments.create({ name });
    const first = await stack.rollOut(name, { spec: specOf({ base_url: stableUrl }), strategy: { type: 'immediate' } });
    await slipway.operations.wait(first);
    const options: InferenceLoadOptions = {
      isRandom: true,
      patienceMs: PATIENCE_MS,
      members: (index) => ({ user: `session-${sessionOf(index)}`, ...members?.(index) }),
    };
    const load = new Load(stack.gatewayUrl, stack.token, name, perSecond, options);
    try {
      await until('the load is served', async () => load.answers.some(({ status }) => status === 200));
      const steps = [
        { traffic_percent: percent, soak_seconds: soakSeconds },
        { traffic_percent: 100, soak_seconds: 3 },
      ];
      const rollout = { spec: specOf(candidate), strategy: { type: 'canary', steps }, ...(analysis && { analysis }) };
      const record = await decided(await stack.rollOut(name, rollout));
      const { targets } = await slipway.deployments.route.get(name);
      const route = targets.filter(({ weight }) => weight > 0);
      const count = load.answers.length;
      await until('the clients are served after the end', async () =>
        load.answers.slice(count).some(({ status, isCut }) => status === 200 && !isCut),
      );
      return { record, route: route.map(({ revision, weight }) => [revision, weight]), answers: load.answers };
    } finally {
      await load.stop();
    }
  }

  /** The judgement of the first step. A breach may stop its soak. */
  const firstOf = ({ result }: any) => result.analysis['soak:1'] ?? result.analysis['analyze:1'];
  /** The verdicts on outcomes that the analysis of a step had. */
  const guardsOf = (record: any, judgement = firstOf(record)) =>
    Object.fromEntries(judgement.guards.map(({ metric, verdict }: any) => [metric, verdict]));
  const guardOf = (record: any, name: string) => firstOf(record).guards.find(({ metric }: any) => metric === name);
  /** How many answers of a revision had each status. */
  const statusesOf = (answers: LoadAnswer[], revision: string) => {
    const counts: Record<number, number> = {};
    for (const one of answers) if (one.revision === revision) counts[one.status] = (counts[one.status] ?? 0) + 1;
    return counts;
  };

  function assertPromoted(name: string, { record, route }: CanaryResult) {
    expect(record).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted', gate: { source: 'default' } } });
    expect(guardsOf(record)).toEqual(ALL_PASS);
    expect(guardsOf(record, record.result.analysis['analyze:2'])).toEqual(ALL_PASS);
    expect(guardOf(record, 'error_rate').candidate.samples).toBeGreaterThan(20);
    expect(route).toEqual([[`${name}-00002`, 100]]);
  }

  function assertStopped(name: string, { record, route }: CanaryResult, code: string) {
    expect(record).toMatchObject({ status: 'failed', error_code: code, result: { outcome: 'reverted' } });
    expect(route).toEqual([[`${name}-00001`, 100]]);
  }

  function assertGuarded(name: string, result: CanaryResult, guard: keyof typeof ALL_PASS) {
    assertStopped(name, result, 'analysis_failed');
    expect(guardsOf(result.record)).toEqual({ ...ALL_PASS, [guard]: 'breached' });
    // No basis is required: a soak that stops within seconds has few requests of the stable revision to compare with.
    expect(guardOf(result.record, guard)).toMatchObject({ reason: null });
  }

  describe('that run three at a time', () => {
    const results = new Map<string, Promise<CanaryResult>>();
    const resultOf = (name: string) => results.get(name) as Promise<CanaryResult>;

    beforeAll(async () => {
      const [same, pictures, key, context, tools, hanging, dropping, redirecting, moved] = await Promise.all([
        serve(),
        serve(),
        serve(),
        serve({ context: 512 }),
        serve({ args: ['--no-jinja'] }),
        serve(),
        serve(),
        serve(),
        serve(),
      ]);
      const canaries: Record<string, Canary> = {
        same: { candidate: { base_url: same.url } },
        pictures: {
          candidate: { base_url: pictures.url },
          members: (index) => (hasPicture(index) ? says(PICTURE) : {}),
        },
        key: { candidate: { base_url: key.url, credential_ref: 'wrong' } },
        context: { candidate: { base_url: context.url }, members: (index) => (isOdd(index) ? says(LONG_PROMPT) : {}) },
        tools: { candidate: { base_url: tools.url }, members: (index) => (isOdd(index) ? { tools: TOOLS } : {}) },
        // More traffic than the stable revision gets is no excuse for a candidate that answers nothing.
        hanging: { candidate: await proxyTo(hanging.url, allClients, silence), percent: 75 },
        dropping: { candidate: await proxyTo(dropping.url, (count) => count % 10 !== 1, silence), percent: 25 },
        redirecting: { candidate: await proxyTo(redirecting.url, allClients, redirect) },
        moved: { candidate: await proxyTo(moved.url, () => true, redirect) },
      };
      const all = Object.entries(canaries);
      for (let first = 0; first < all.length; first += AT_ONCE) {
        for (const [name, canary] of all.slice(first, first + AT_ONCE)) results.set(name, run(name, canary));
        // Each test reports the failure of its own canary.
        await Promise.allSettled(results.values());
      }
    });

    it('the same server is promoted', async () => {
      const result = await resultOf('same');
      assertPromoted('same', result);
      expect(result.answers.filter(({ status, isCut }) => status !== 200 || isCut)).toEqual([]);
    });

    it('the same server is promoted while pictures, which it refuses with 500, are a part of all requests', async () => {
      const result = await resultOf('pictures');
      assertPromoted('pictures', result);
      for (const revision of ['pictures-00001', 'pictures-00002'])
        expect(Object.keys(statusesOf(result.answers, revision))).toEqual(['200', '500']);
      const refused = result.answers.filter(({ status }) => status === 500);
      expect(refused.length / result.answers.length).toBeCloseTo(PICTURE_SHARE, 1);
    });

    it('a candidate with a wrong key never becomes ready', async () => {
      const result = await resultOf('key');
      assertStopped('key', result, 'target_not_ready');
      expect(result.record.message).toMatch(/POST http:\S+\/v1\/chat\/completions returned 401: .*API Key/i);
      expect(result.record.steps.find(({ name }: any) => name === 'await_ready').evidence).toMatchObject({
        cause: 'request_refused',
      });
      expect(result.answers.filter(({ status }) => status !== 200)).toEqual([]);
    });

    it('a candidate with a quarter of the context is stopped by the requests that it refuses', async () => {
      const result = await resultOf('context');
      assertGuarded('context', result, 'client_error_rate');
      expect(Object.keys(statusesOf(result.answers, 'context-00001'))).toEqual(['200']);
      expect(Object.keys(statusesOf(result.answers, 'context-00002'))).toEqual(['200', '400']);
    });

    it('a candidate without tools is stopped by the errors of its clients that use them', async () => {
      const result = await resultOf('tools');
      assertGuarded('tools', result, 'error_rate');
      expect(Object.keys(statusesOf(result.answers, 'tools-00001'))).toEqual(['200']);
      expect(Object.keys(statusesOf(result.answers, 'tools-00002'))).toEqual(['200', '500']);
    });

    it('a candidate that hangs once it is ready is stopped by the clients that leave', async () => {
      const result = await resultOf('hanging');
      assertGuarded('hanging', result, 'abandoned_rate');
      expect(guardOf(result.record, 'abandoned_rate').candidate.value).toBe(1);
    });

    it('a candidate that answers one of ten clients is stopped by the others', async () => {
      const result = await resultOf('dropping');
      assertGuarded('dropping', result, 'abandoned_rate');
      expect(guardOf(result.record, 'abandoned_rate').candidate.value).toBeGreaterThan(0.6);
    });

    it('a candidate that redirects once it is ready is stopped by its errors', async () => {
      const result = await resultOf('redirecting');
      assertGuarded('redirecting', result, 'error_rate');
      expect(guardOf(result.record, 'error_rate').candidate.value).toBe(1);
      expect(Object.keys(statusesOf(result.answers, 'redirecting-00002'))).toEqual(['502']);
    });

    it('a candidate that redirects from the start never becomes ready', async () => {
      const result = await resultOf('moved');
      assertStopped('moved', result, 'target_not_ready');
      expect(result.record.message).toMatch(/POST http:\S+\/v1\/chat\/completions returned 307/);
      expect(result.answers.filter(({ status }) => status !== 200)).toEqual([]);
    });
  });

  it('a candidate with half the processor is stopped by a gate on latency', async () => {
    const { url, pid } = await serve();
    servers.add(spawn(process.execPath, ['-e', HALF_THE_TIME, String(pid)], { stdio: 'ignore' }));
    const metric = {
      name: 'e2e_latency_ms',
      stat: 'p50',
      check: 'regression',
      max_regression_percent: 20,
      min_samples: 20,
    };
    const result = await run('half', {
      candidate: { base_url: url },
      perSecond: 12,
      soakSeconds: 30,
      // If it had more traffic, only its requests at equal load would be compared.
      percent: 45,
      members: () => ({ max_tokens: 128 }),
      analysis: { metrics: [metric] },
    });
    assertStopped('half', result, 'analysis_failed');
    const { verdict, metrics } = firstOf(result.record);
    expect(verdict).toBe('breached');
    expect(metrics).toMatchObject([{ metric: 'e2e_latency_ms', check: 'regression', verdict: 'breached' }]);
    expect(result.answers.filter(({ status, isCut }) => status !== 200 || isCut)).toEqual([]);
  });
});

/** Stops a process for 5 ms after each 5 ms in which it may run. */
const HALF_THE_TIME = `
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (;;)
    for (const signal of ['SIGSTOP', 'SIGCONT']) {
      process.kill(Number(process.argv[1]), signal);
      Atomics.wait(cell, 0, 0, 5);
    }`;
