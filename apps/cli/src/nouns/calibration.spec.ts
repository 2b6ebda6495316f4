import { expect, it } from '@jest/globals';
import { runCommand } from '../../test/run-command.js';

const PREDICTION = {
  plan_id: 'plan_1',
  deployment: 'chat',
  phase: 'window',
  at: '2026-01-01T12:00:00.000Z',
  metric: 'ttft_ms',
  stat: 'p95',
  now: 1110,
  predicted: { value: 154, low: 120, high: 198 },
  achieved: { value: 210, low: 190, high: null, n: 812 },
  within: false,
  moved: true,
};
const CALIBRATION = {
  level_percent: 90,
  calibrated_on: 101,
  least_plans: 9,
  half_width_percent: 24,
  kinds: [
    {
      kind: 'scale_up',
      n: 100,
      coverage_percent: 86,
      median_error_percent: 7.25,
      bias_percent: 2.5,
      predictions: [PREDICTION],
    },
    { kind: 'revert', n: 1, coverage_percent: 100, median_error_percent: 4, bias_percent: -4, predictions: [] },
    { kind: 'manual', n: 0, coverage_percent: null, median_error_percent: null, bias_percent: null, predictions: [] },
  ],
};

const shown = async (answer: object, ...words: string[]) =>
  (await runCommand(['autopilot', 'calibration', ...words], { fetch: async () => Response.json(answer) })).stdout;

it('shows for each kind the coverage in words, the error and the bias, and the width of new intervals', async () => {
  const stdout = await shown(CALIBRATION);
  for (const line of [
    /^Calibrated on 101 executed plans\.\nHalf width of new intervals: 24 % \(value \/ 1\.24 to value \* 1\.24\)\.$/m,
    /^KIND +PLANS +COVERAGE +MEDIAN ERROR +BIAS$/m,
    /^scale_up +100 +86 of 100 plans were inside their interval; 90 are expected +7\.25 % +\+2\.5 %$/m,
    /^revert +1 +1 of 1 plan was inside its interval; 1 is expected +4 % +-4 %$/m,
    /^manual +0 +- +- +-$/m,
    /^Newest predictions of scale_up\nPLAN +DEPLOYMENT +METRIC +PREDICTED +ACHIEVED +INSIDE +AT\nplan_1 +chat +ttft_ms p95 +154 ms \(120 to 198\) +210 ms \(at least 190\) +no +2026/m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).not.toContain('predictions of revert');
});

it('says how many plans are needed until the intervals are calibrated, without those of people and reverts', async () => {
  const people = { ...CALIBRATION.kinds[0], kind: 'manual' };
  const of = (n: number) =>
    shown({ ...CALIBRATION, calibrated_on: 0, kinds: [{ ...CALIBRATION.kinds[0], n }, CALIBRATION.kinds[1], people] });
  expect(await of(3)).toMatch(/^Not yet calibrated, 3 of 9 plans\.\n/);
  expect(await of(100)).toMatch(/^Not yet calibrated, 9 of 9 plans\.\n/);
});

it('shows at most ten predictions of a kind', async () => {
  const predictions = Array.from({ length: 12 }, (_, n) => ({ ...PREDICTION, plan_id: `plan_${n}` }));
  const stdout = await shown({ ...CALIBRATION, kinds: [{ ...CALIBRATION.kinds[0], predictions }] });
  expect(stdout.match(/^plan_\d+ /gm)).toHaveLength(10);
});

it('shows an answer without kinds, and one without most members', async () => {
  const none = 'Not yet calibrated, 0 of 9 plans.';
  expect(await shown({ ...CALIBRATION, calibrated_on: 0, kinds: [] })).toMatch(
    new RegExp(`^${none}\\n.*\\nNo executed plan has an outcome yet\\.\\n$`),
  );
  expect(await shown({})).toBe(`${none}\nNo executed plan has an outcome yet.\n`);
  expect(await shown({ kinds: [{ kind: 'later' }] })).toMatch(/^later +- +- +- +-$/m);
});

it('prints nothing that a terminal would obey', async () => {
  const hostile = '\u001b[2Jgone';
  const row = { ...PREDICTION, plan_id: hostile, deployment: hostile, metric: hostile, stat: hostile, at: hostile };
  const stdout = await shown({ kinds: [{ kind: hostile, predictions: [row] }] });
  expect(stdout).toContain('gone');
  expect(stdout).not.toContain('\u001b');
});

it('prints the whole answer as JSON', async () =>
  expect(JSON.parse(await shown(CALIBRATION, '-o', 'json'))).toEqual(CALIBRATION));
