import { expect, it } from '@jest/globals';
import { runCommand } from '../../../test/run-command.js';

const plan = (rollout: object | undefined, more: object = {}) => ({
  id: 'plan_1',
  deployment: 'chat',
  summary: 'two replicas',
  content_digest: 'sha256:1',
  approval: { state: 'pending', approvals: [{ by: { type: 'person', id: 'per_2', name: 'bob' } }], ended: null },
  created_by: { type: 'token', id: 'tok_1', name: 'ci' },
  ...(rollout && 'is_gated' in rollout ? { execution: rollout, rollout: {} } : { rollout }),
  ...more,
});
const canary = {
  strategy: {
    type: 'canary',
    steps: [
      { traffic_percent: 10, soak_seconds: 60, requires_approval: true },
      { traffic_percent: 100, soak_seconds: 60, requires_approval: false },
    ],
  },
  analysis: { metrics: [{ name: 'error_rate', stat: 'rate', check: 'threshold', threshold: 0.02 }], guards: [{}, {}] },
  target: 'local',
  is_gated: true,
};
const immediate = { strategy: { type: 'immediate', steps: [] }, analysis: null, target: 'local', is_gated: false };

const shown = async (rollout: object | undefined, ...words: string[]) => {
  const [show = 'show'] = words;
  const one = plan(rollout);
  const fetch = async () => Response.json(show === 'list' ? { data: [one], next_cursor: null } : one);
  return runCommand(['plans', show, ...(show === 'show' ? ['plan_1'] : [])], { fetch });
};

it('shows how a plan will be rolled out, and its actors by name', async () => {
  const { stdout, stderr } = await shown(canary);
  expect(stderr).toBe('');
  for (const line of [
    /^STRATEGY +canary 10, 100 %$/m,
    /^STEPS +10 % for 60 s, then an approval; 100 % for 60 s$/m,
    /^GATE +error_rate <= 2 %, 2 guards$/m,
    /^TARGET +local$/m,
    /^BY +ci$/m,
    /^DECIDED BY +bob$/m,
  ])
    expect(stdout).toMatch(line);
  expect((await shown(canary, 'list')).stdout).toMatch(/ canary 10, 100 % +error_rate <= 2 %, 2 guards +local +ci /);
});

it('marks a plan that moves all traffic at once without a gate', async () => {
  const { stdout, stderr } = await shown(immediate);
  expect(stdout).toMatch(/^GATE +NONE: all traffic at once$/m);
  expect(stderr).toBe('Warning: This plan moves all traffic at once, and no gate judges the new revision.\n');
  expect((await shown(immediate, 'list')).stdout).toContain('NONE: all traffic at once');
});

it('shows a plan of an older api, which has only the body of the rollout', async () => {
  for (const rollout of [undefined, { spec_patch: {} }, { strategy: { type: 'immediate' } }, { strategy: 7 }]) {
    const { code, stdout, stderr } = await shown(rollout);
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^GATE +-$/m)]);
  }
});

const PREDICTED = {
  kind: 'scale_up',
  assumes: { peak_request_rate: 8.13, input_tokens_p95: 900, output_tokens_p95: null, engine_version: 'vllm 0.11' },
  predicted_impact: {
    metrics: [
      {
        metric: 'ttft_ms',
        stat: 'p95',
        now: 1110,
        predicted: { value: 154, low: 120, high: 198 },
        confidence: 0.9,
        calibrated_on: 0,
      },
      { metric: 'error_rate', stat: 'rate', now: null, predicted: { value: 0.01, low: 0.005, high: 0.02 } },
    ],
    cost: { now: { amount: 1.6, currency: 'EUR' }, predicted: { amount: 2.4, currency: 'EUR' } },
    gpu_hours: 168,
  },
};

it('shows the kind of a plan, its prediction with intervals, its cost and what it assumes', async () => {
  const one = plan(canary, PREDICTED);
  const { stdout } = await runCommand(['plans', 'show', 'plan_1'], { fetch: async () => Response.json(one) });
  for (const line of [
    /^KIND +scale_up$/m,
    /^PREDICTED +ttft_ms p95 from 1110 ms to 154 ms \(120 to 198, confidence 90 %, not yet calibrated\); error_rate to 1 % \(0\.5 to 2\)$/m,
    /^COST +1\.60 EUR\/h now, 2\.40 EUR\/h predicted; at most 168 GPU hours more$/m,
    /^ASSUMES +up to 8\.13 requests\/s, input tokens p95 900, engine vllm 0\.11$/m,
  ])
    expect(stdout).toMatch(line);
});

it('says from how many plans an interval is calibrated, and if devices have no price', async () => {
  const [metric] = PREDICTED.predicted_impact.metrics;
  const open = { ...metric, calibrated_on: 12, predicted: { value: 154, low: 120, high: null } };
  const impact = { metrics: [open], cost: null, gpu_hours: -24 };
  const one = plan(canary, { predicted_impact: impact });
  const { stdout } = await runCommand(['plans', 'show', 'plan_1'], { fetch: async () => Response.json(one) });
  expect(stdout).toMatch(/^PREDICTED .* 154 ms \(at least 120, confidence 90 %, calibrated on 12 plans\)$/m);
  expect(stdout).toMatch(/^COST +no price for the devices; 24 GPU hours fewer$/m);
  expect(stdout).toMatch(/^KIND +-$/m);
});

it('shows the prediction of a person as it was written', async () => {
  for (const [impact, shown] of [
    [{ ttft: 'half' }, '{"ttft":"half"}'],
    [{ metrics: 'all' }, '{"metrics":"all"}'],
    [{ metrics: [{ metric: 'ttft_ms', predicted: 100 }] }, '{"metrics":[{"metric":"ttft_ms","predicted":100}]}'],
    [null, '-'],
  ] as const) {
    const one = plan(canary, { predicted_impact: impact });
    const { code, stdout } = await runCommand(['plans', 'show', 'plan_1'], { fetch: async () => Response.json(one) });
    expect([code, /^PREDICTED +(.*)$/m.exec(stdout)?.[1], /^COST +(.*)$/m.exec(stdout)?.[1]]).toEqual([0, shown, '-']);
  }
});

it('shows the approver the prediction, the cost and the assumptions before the rollout', async () => {
  const fetch = async () => Response.json(plan(canary, PREDICTED));
  const { stderr } = await runCommand(['plans', 'approve', 'plan_1'], { fetch, columns: 200, stdin: 'y\n' });
  expect(stderr).toMatch(
    /^Predicted: ttft_ms p95 from 1110 ms .*\nPredicted: error_rate .*\nCost: 1\.60 EUR.*\nAssumes: up to 8\.13 .*\nStrategy: canary/,
  );
});

it('shows the approver what they approve, and approves exactly that', async () => {
  const sent: unknown[] = [];
  let digest = 'sha256:1';
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.method === 'POST') sent.push(JSON.parse(String(init.body)));
    return Response.json(plan(immediate, { content_digest: digest }));
  };
  const approve = (...more: string[]) =>
    runCommand(['plans', 'approve', 'plan_1', ...more], { fetch, columns: 100, stdin: 'y\n' });
  const { code, stderr } = await approve();
  expect([code, sent]).toEqual([0, [{ plan_digest: 'sha256:1' }]]);
  expect(stderr).toMatch(/Strategy: immediate\nGate: none\nTarget: local\n.*no gate judges[^]*approve plan_1\?/);
  digest = 'sha256:2';
  await approve('--plan-digest', 'sha256:1', '--comment', 'go');
  expect(sent.at(-1)).toEqual({ plan_digest: 'sha256:1', comment: 'go' });
});

const OUTCOME = {
  phase: 'promotion',
  at: '2026-01-01T12:00:00.000Z',
  metric: 'ttft_ms',
  stat: 'p95',
  predicted: { value: 154, low: 120, high: 198 },
  now: 1110,
  achieved: { value: 149, low: 140, high: 160, n: 812 },
  within: true,
  log_error: -0.033,
  result: 'as_predicted',
};
const executed = async (outcomes: unknown, hold: unknown, show = 'show') => {
  const one = plan(canary, { outcomes, assumptions_hold: hold });
  const fetch = async () => Response.json(show === 'list' ? { data: [one], next_cursor: null } : one);
  return (await runCommand(['plans', show, ...(show === 'show' ? ['plan_1'] : [])], { fetch })).stdout;
};

it('shows predicted and achieved values of an executed plan with their results, and whether its assumptions held', async () => {
  const missed = { ...OUTCOME, phase: 'window', metric: 'error_rate', stat: 'rate', predicted: null, within: null };
  const high = { value: 0.03, low: 0.02, high: null, n: 1 };
  const stdout = await executed([OUTCOME, { ...missed, achieved: high, result: 'worse' }], true);
  expect(stdout).toMatch(
    /^OUTCOMES +ttft_ms p95 predicted 154 ms \(120 to 198\), achieved 149 ms \(140 to 160, 812 samples\): as predicted, soon after the rollout; error_rate not predicted, achieved 3 % \(at least 2, 1 sample\): worse, because its SLO is newly missed, after the outcome window$/m,
  );
  expect(stdout).toMatch(/^RESULT +worse, because its SLO is newly missed$/m);
  expect(stdout).toMatch(/^ASSUMPTIONS +held$/m);
});

it.each([
  ['as_predicted', true, 'as predicted'],
  ['better', false, 'better, and not as predicted'],
  ['worse', false, 'worse, and not as predicted'],
  ['worse', true, 'worse, because its SLO is newly missed'],
  ['no_effect', false, 'no certain effect'],
  ['assumptions_moved', false, 'not comparable, because the load or the requests have changed'],
  ['rolled_back', null, 'not measured, because it was rolled back or replaced'],
  [null, null, 'too little evidence in time'],
  ['of_a_later_api', null, 'of a later api'],
])('says the result %s (inside: %s) in words, also in a list', async (result, within, words) => {
  const outcome = { ...OUTCOME, result, within, achieved: within === null ? null : OUTCOME.achieved };
  expect(await executed([outcome], false)).toMatch(new RegExp(`^RESULT +${words}$`, 'm'));
  expect(await executed([outcome], false, 'list')).toContain(words);
  expect(await executed([outcome], false)).toMatch(/^ASSUMPTIONS +no longer held$/m);
});

it('shows the results of the newest phase alone in a list, each once', async () => {
  const newest = { ...OUTCOME, phase: 'window', result: 'no_effect', within: false };
  const stdout = await executed([OUTCOME, newest, { ...newest, metric: 'itl_ms' }], true, 'list');
  expect(stdout).toContain('no certain effect ');
  expect(stdout).not.toMatch(/as predicted|effect; /);
});

it('shows a plan without outcomes, and outcomes that cannot be read', async () => {
  for (const outcomes of [undefined, [], null, 7, [null, {}, 'later']]) {
    const stdout = await executed(outcomes, null);
    for (const title of ['RESULT', 'OUTCOMES', 'ASSUMPTIONS']) expect(stdout).toMatch(new RegExp(`^${title} +-$`, 'm'));
  }
});

it('prints nothing of an outcome that a terminal would obey', async () => {
  const hostile = '\u001b[2Jgone';
  const stdout = await executed([{ ...OUTCOME, metric: hostile, stat: hostile, result: hostile }], true);
  expect(stdout).toContain('gone');
  expect(stdout).not.toContain('\u001b');
});
