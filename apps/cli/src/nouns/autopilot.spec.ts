import { expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const CURVE = [
  { load: 1.2, n: 90, value: 106, low: 95, high: 118 },
  { load: 3.4, n: 812, value: 1110, low: 1050, high: 1180 },
];
const MISSED = {
  metric: 'ttft_ms',
  stat: 'p95',
  threshold: 500,
  cause: 'load_dependent',
  value: { value: 1110, low: 1050, high: 1180, n: 812 },
  idle: { value: 106, low: 95, high: 118, n: 90 },
  predicted: { value: 154, low: 120, high: 198 },
  replicas: { now: 2, needed: 3, at_rate: 8.1 },
  curve: CURVE,
  message: 'TTFT p95 is 1,110 ms, limit 500 ms.',
};
const UNKNOWN = {
  metric: 'error_rate',
  stat: 'rate',
  threshold: 0.02,
  cause: 'unknown',
  because: 'samples',
  value: null,
  idle: null,
  predicted: null,
  replicas: { now: 2, needed: null, at_rate: null },
  curve: [],
  message: 'Only 12 requests ended, 50 are needed.',
};
const DIAGNOSIS = {
  deployment: 'chat',
  at: '2026-01-01T12:00:00.000Z',
  window: { from: '2026-01-01T11:30:00.000Z', to: '2026-01-01T12:00:00.000Z' },
  decision: {
    because: 'cooldown',
    message: 'No plan was written: the last one is less than an hour old.',
    until: '2026-01-01T13:00:00.000Z',
    at: '2026-01-01T12:00:00.000Z',
  },
  workload: {
    declared: { request_rate: 8, input_tokens_p95: 400 },
    observed: { request_rate: 8.13, concurrency: 6.4, input_tokens_p95: 900, output_tokens_p95: null },
    moved: ['input_tokens_p95'],
  },
  slos: [MISSED, UNKNOWN],
  cost: { now: { amount: 1.6, currency: 'EUR' }, devices: 2 },
};

const diagnosed = (diagnosis: object, ...words: string[]) =>
  runCommand(['autopilot', 'diagnose', 'chat', ...words], { fetch: async () => Response.json(diagnosis) });

it('shows the decision and its reason first, then each SLO with its numbers, the workload and the cost', async () => {
  const { code, stdout, stderr } = await diagnosed(DIAGNOSIS);
  expect([code, stderr]).toEqual([0, '']);
  const [first, ...others] = stdout.split('\n');
  expect(first).toBe('chat: No plan was written: the last one is less than an hour old.');
  expect(others[0]).toMatch(/^ {2}REASON +cooldown$/);
  for (const line of [
    /^ {2}UNTIL +2026-01-01T13:00:00.000Z \(\d+d ago\)$/m,
    /^ttft_ms p95, limit 500 ms: load_dependent\nTTFT p95 is 1,110 ms, limit 500 ms\.$/m,
    /^ {2}VALUE +1110 ms \(1050 to 1180, 812 samples\)$/m,
    /^ {2}IDLE +106 ms \(95 to 118, 90 samples\)$/m,
    /^ {2}PREDICTED +154 ms \(120 to 198\) with 3 replicas at 8\.1 requests\/s$/m,
    /^ {2}REPLICAS +2 now, needed: 3$/m,
    /^ {2}LOAD +SAMPLES +VALUE +LOW +HIGH\n {2}1\.2 +90 +106 ms +95 ms +118 ms\n {2}3\.4 +812 /m,
    /^error_rate, limit 2 %: unknown \(samples\)$/m,
    /^ {2}REPLICAS +2 now, needed: unknown$/m,
    /^WORKLOAD +DECLARED +OBSERVED +MOVED$/m,
    /^concurrency +- +6\.4 +-$/m,
    /^input_tokens_p95 +400 +900 +moved by more than 25 %$/m,
    /^Cost now: 1\.60 EUR\/h, 2 devices$/m,
  ])
    expect(stdout).toMatch(line);
});

it('names the plan of a decision with the command that shows it', async () => {
  const decision = { plan_id: 'plan_1', message: 'Proposed three replicas.', at: '2026-01-01T12:00:00Z' };
  const { stdout } = await diagnosed({ ...DIAGNOSIS, decision, slos: [] });
  expect(stdout).toMatch(/^chat: Proposed three replicas\.\n {2}PLAN +plan_1: slipway plans show plan_1\n/);
  expect(stdout).not.toContain('REASON');
  const waiting = { because: 'open_plan', message: 'An earlier plan waits for a decision.', at: decision.at };
  expect((await diagnosed({ ...DIAGNOSIS, decision: waiting })).stdout).toMatch(
    /^ {2}PLANS +slipway plans list --deployment chat$/m,
  );
});

it('shows an answer without a decision, a price and most members', async () => {
  const nothing = { deployment: 'chat', window: null, decision: null, slos: [], cost: { now: null, devices: 0 } };
  const { code, stdout } = await diagnosed(nothing);
  expect([code, stdout]).toEqual([
    0,
    'chat: The autopilot has not decided anything yet.\n\nCost now: no price, 0 devices\n',
  ]);
  const sparse = await diagnosed({ deployment: 'chat', slos: [{ metric: 'later_ms', cause: 'later' }] });
  expect([sparse.code, sparse.stdout]).toEqual([0, expect.stringContaining('later_ms, limit -: later\n')]);
});

it('shows an interval without an upper end, and an availability with enough digits', async () => {
  const value = { value: 99.95, low: 99.91, high: null, n: 1440 };
  const slo = { ...UNKNOWN, metric: 'availability_percent', threshold: 99.9, value };
  const { stdout } = await diagnosed({ ...DIAGNOSIS, slos: [slo] });
  expect(stdout).toMatch(/^availability_percent, limit 99\.9 %: unknown/m);
  expect(stdout).toMatch(/^ {2}VALUE +99\.95 % \(at least 99\.91, 1440 samples\)$/m);
});

it('prints nothing that a terminal would obey', async () => {
  const hostile = '\u001b[2Jgone';
  const slo = { ...MISSED, cause: hostile, because: hostile, message: hostile };
  const decision = { because: hostile, message: hostile, plan_id: hostile, at: hostile, until: hostile };
  const cost = { now: { amount: 1, currency: hostile } };
  const { stdout } = await diagnosed({ ...DIAGNOSIS, deployment: hostile, decision, slos: [slo], cost });
  expect(stdout).toContain('gone');
  expect(stdout).not.toContain('\u001b');
});

it('prints the whole answer as JSON, and some of its fields', async () => {
  expect(JSON.parse((await diagnosed(DIAGNOSIS, '-o', 'json')).stdout)).toEqual(DIAGNOSIS);
  expect((await diagnosed(DIAGNOSIS, '--jq', '.slos[].cause')).stdout).toBe('load_dependent\nunknown\n');
  expect((await diagnosed(DIAGNOSIS, '-o', 'name')).stdout).toBe('chat\n');
});

it('fails as not found for a deployment without a policy', async () => {
  const error = { code: 'policy_not_found', message: 'chat has no policy.', category: 'not_found', retryable: false };
  const { code, stderr } = await runCommand(['autopilot', 'diagnose', 'chat'], {
    fetch: async () => Response.json({ error }, { status: 404 }),
  });
  expect([code, stderr]).toEqual([6, expect.stringContaining('policy_not_found')]);
});
