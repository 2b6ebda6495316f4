import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { DeploymentEvent, Operation } from '@slipway/sdk';
import { linesBetween, waitLinesBetween } from './watch.js';
import { firstSight, withEvent, withOperation, type OperationProgress } from './operation-progress.js';
import { clock, cut, measured, widthOf } from './text.js';
import { timeLeft } from './time-left.js';
import { linesOf } from './view.js';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const NAMES = [
  'validate',
  'provision',
  'await_ready',
  'shift_traffic:1',
  'soak:1',
  'analyze:1',
  'shift_traffic:2',
  'soak:2',
];
const NAMES_ALL = [...NAMES, 'analyze:2', 'promote', 'drain_previous'];

const stepOf = (name: string, index: number, current: number) => ({
  name,
  index,
  status: index < current ? 'succeeded' : index === current ? 'waiting' : 'pending',
  started_at: index <= current ? '2026-01-01T00:09:00Z' : null,
  completed_at: index < current ? '2026-01-01T00:09:12Z' : null,
  message: index === current ? 'Soaking until 2026-01-01T00:12:05.000Z' : '',
  evidence: null,
});
const operation = (current: number, more: Partial<Operation> = {}): Operation =>
  ({
    id: 'op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5',
    kind: 'rollout',
    resource_name: 'chat',
    status: 'waiting',
    progress: 40,
    result: {
      revision: 'chat-00002',
      strategy_steps: [{ soak_seconds: 60 }, { soak_seconds: 240 }],
      gate: { metrics: [{ name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20 }] },
    },
    steps: NAMES_ALL.map((name, index) => stepOf(name, index, current)),
    ...more,
  }) as unknown as Operation;
const event = (type: string, data: object): DeploymentEvent =>
  ({ type, time: '2026-01-01T00:09:30Z', data }) as unknown as DeploymentEvent;
const shifted = event('route.updated', {
  targets: [
    { revision: 'chat-00001', weight: 75 },
    { revision: 'chat-00002', weight: 25 },
  ],
});
const judged = event('rollout.analysis_completed', {
  step: 'analyze:1',
  verdict: 'pass',
  metrics: [
    {
      metric: 'ttft_ms',
      stat: 'p95',
      check: 'regression',
      verdict: 'pass',
      limit: 20,
      candidate: { value: 52.34, samples: 400 },
      baseline: { value: 50, samples: 4000 },
    },
  ],
});
const guarded = event('rollout.analysis_completed', {
  step: 'analyze:1',
  verdict: 'pass',
  metrics: [],
  guards: [
    {
      metric: 'overloaded_rate',
      stat: 'rate',
      check: 'guard',
      verdict: 'pass',
      limit: 0.05,
      candidate: { value: 0.02, samples: 400 },
      baseline: { value: 0.01, samples: 4000 },
    },
  ],
});
const full = (): OperationProgress => [shifted, judged].reduce(withEvent, firstSight(operation(7)));
const frame = (columns: number, rows = 40) => ({ columns, rows, hasColour: false, now: NOW });

it.each([
  [
    80,
    `chat  rollout  waiting  40 %  op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5
  about 2:05 left, if every gate passes
  ✓ validate                   0:12
  ✓ provision                  0:12
  ✓ await_ready                0:12
  ✓ shift_traffic:1            0:12
  ✓ soak:1                     0:12
  ✓ analyze:1                  0:12
  ✓ shift_traffic:2            0:12
  ◐ soak:2                2:05 left
  · analyze:2
  · promote
  · drain_previous
  traffic ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██████████ 25 % chat-00002
                           candidate   baseline    limit     verdict
  ttft_ms p95              52.3 ms     50 ms       +20 %     pass
  00:09:30 traffic: chat-00001 75 %, chat-00002 25 %
  00:09:30 analyze:1: pass`,
  ],
  [
    40,
    `chat  rollout  waiting  40 %
  about 2:05 left, if every gate passes
  ✓ validate               0:12
  ✓ provision              0:12
  ✓ await_ready            0:12
  ✓ shift_traffic:1        0:12
  ✓ soak:1                 0:12
  ✓ analyze:1              0:12
  ✓ shift_traffic:2        0:12
  ◐ soak:2            2:05 left
  · analyze:2
  · promote
  · drain_previous
  traffic ░░░░██ 25 % chat-00002
  ttft_ms 52.3 ms/50 ms pass
  00:09:30 traffic: chat-00001 75 %, ch…
  00:09:30 analyze:1: pass`,
  ],
])('at %i columns', (columns, shown) => {
  const lines = linesOf(full(), frame(columns)).map((line) => line.trimEnd());
  expect(lines.join('\n')).toBe(shown);
});

it.each([20, 40, 80, 200])('fits %i columns, whatever it receives, with colours and without', (columns) => {
  const hostile = '\u001b[2J\u202ex\n漢字'.repeat(40);
  const steps = [
    { ...stepOf(hostile, 0, 0), message: hostile },
    { ...stepOf('soak:1', 1, 1), message: hostile },
  ];
  const odd = operation(0, { resource_name: hostile, status: 'dreaming', steps } as unknown as Partial<Operation>);
  for (const sight of [full(), withEvent(withEvent(firstSight(odd), judged), event(hostile, { message: hostile }))]) {
    const plain = linesOf(sight, frame(columns));
    const coloured = linesOf(sight, { ...frame(columns), hasColour: true });
    expect(Math.max(...plain.map(widthOf))).toBeLessThanOrEqual(columns);
    expect(plain.join('')).toMatch(/^[^\p{Cc}\u202e]*$/u);
    expect(coloured.join('')).toContain('\u001b[');
    expect(coloured.map(stripVTControlCharacters)).toEqual(plain);
  }
});

it.each([5, 8, 12, 24])('fits %i rows around the step in progress', (rows) => {
  const lines = linesOf(full(), frame(80, rows));
  expect(lines.length).toBeLessThan(rows);
  expect(lines.join('\n')).toContain('◐ soak:2');
});

it('shows the requirements of the gate before anything was measured', () => {
  const lines = linesOf(firstSight(operation(2)), frame(80));
  expect(lines.at(-1)).toMatch(/ttft_ms p95 +- +- +\+20 % +not checked yet/);
});

describe('the time left of a rollout', () => {
  const left = (current: number, more: Partial<Operation> = {}, now = NOW) => timeLeft(operation(current, more), now);
  const result = operation(0).result;

  it('is the time of the current soak and of those to come, with the assumptions', () => {
    expect(left(2)).toBe('about 5:00 left, once it is ready, if every gate passes');
    expect(left(4)).toBe('about 6:05 left, if every gate passes');
    expect(left(4, {}, NOW + 200_000)).toBe('about 4:00 left, if every gate passes');
    expect(left(4, { result: { ...result, gate: null } })).toBe('about 6:05 left');
    const approved = [...operation(4).steps, { ...operation(0).steps[8]!, name: 'await_promotion:2' }];
    expect(left(4, { steps: approved })).toContain('passes, not counting the time for approvals');
  });

  it('is absent if no soak is left, if the rollout is being undone, and if the api does not say', () => {
    expect(left(8)).toBeUndefined();
    expect(left(4, { status: 'cancelling' })).toBeUndefined();
    const back = operation(4).steps.map((step) => (step.index === 3 ? { ...step, status: 'undone' as const } : step));
    expect(left(4, { steps: back })).toBeUndefined();
    for (const steps of [undefined, 'many', [{ soak_seconds: 60 }], [null, { soak_seconds: '9' }]])
      expect([steps, left(2, { result: { ...result, strategy_steps: steps } })]).toEqual([steps, undefined]);
  });
});

describe('plain lines', () => {
  it('report each change once', () => {
    const before = firstSight(operation(3));
    expect(linesBetween(undefined, before, NOW)).toEqual([
      'validate: succeeded',
      'provision: succeeded',
      'await_ready: succeeded',
      'shift_traffic:1: waiting (Soaking until 2026-01-01T00:12:05.000Z)',
      'about 5:00 left, if every gate passes',
    ]);
    const later = withOperation(before, operation(4));
    expect(linesBetween(before, later, NOW)).toEqual([
      'shift_traffic:1: succeeded',
      'soak:1: waiting (Soaking until 2026-01-01T00:12:05.000Z)',
      'about 6:05 left, if every gate passes',
    ]);
    const told = withEvent(later, judged);
    expect(linesBetween(later, told, NOW)).toEqual([
      'analyze:1: pass',
      'analyze:1 ttft_ms p95: candidate 52.3 ms, baseline 50 ms, limit +20 %: pass',
    ]);
    expect(linesBetween(told, withEvent(told, event('rollout.step_advanced', {})), NOW)).toEqual([]);
  });
});

describe('one text is printed once', () => {
  const WHY = 'The engine ended with code 1.';
  const failing = (more: object = {}) => {
    const steps = operation(2).steps.map((step) =>
      step.index === 2 ? { ...step, status: 'failed' as const, message: WHY } : step,
    );
    return operation(2, { message: WHY, steps, ...more } as Partial<Operation>);
  };
  const reverted = event('rollout.reverted', { revision: 'chat-00002', error_code: 'target_not_ready', message: WHY });
  const ended = { status: 'failed', completed_at: '2026-01-01T00:10:00Z', error_code: 'target_not_ready' };

  it('if it is the failure with which the command ends, in any order of record and events', () => {
    const record = (one: object) => (sight: OperationProgress) => withOperation(sight, failing(one));
    const told = (sight: OperationProgress) => withEvent(sight, reverted);
    for (const changes of [
      [record({}), told, record(ended)],
      [told, record({}), record({ ...ended, message: 'Undone.' })],
    ]) {
      let sight = firstSight(operation(2));
      const lines = changes.flatMap((change) => {
        const before = sight;
        sight = change(sight);
        return linesBetween(before, sight, NOW);
      });
      expect(lines.filter((line) => line.includes('engine'))).toEqual([]);
      expect(lines.sort()).toEqual(expect.arrayContaining(['await_ready: failed', 'rollout.reverted chat-00002']));
      expect(linesOf(sight, frame(120)).join('\n')).not.toContain('engine');
    }
    // While the route is restored, the view that is drawn in place shows the cause.
    expect(linesOf(firstSight(failing()), frame(120)).join('\n')).toContain(WHY);
  });

  it('if an event and a step have it', () => {
    const said = event('instance.slow', { message: 'Loading.' });
    const loading = operation(2, { steps: operation(2).steps.map((step) => ({ ...step, message: 'Loading' })) });
    const before = firstSight(operation(2));
    const first = withEvent(before, said);
    const lines = [...linesBetween(before, first, NOW), ...linesBetween(first, withOperation(first, loading), NOW)];
    expect(lines.filter((line) => line.includes('Loading'))).toEqual(['instance.slow Loading.']);
    const known = withOperation(before, loading);
    expect(linesBetween(known, withEvent(known, said), NOW)).toEqual(['instance.slow']);
  });
});

it('shows what to type while a person is needed, once', () => {
  const waiting = operation(4, { waiting_for: 'approval' } as Partial<Operation>);
  const [before, after] = [firstSight(operation(4)), firstSight(waiting)];
  expect(waitLinesBetween(before, after)).toEqual([
    'chat waits: the next step needs the approval of a person.',
    'To approve it: slipway rollouts promote chat',
    'To restore the previous route: slipway rollouts abort chat',
  ]);
  expect(waitLinesBetween(after, after)).toEqual([]);
  const shown = (showsWait: boolean) => linesOf(after, { ...frame(80), showsWait }).join('\n');
  expect([shown(true), shown(false)]).toEqual([
    expect.stringContaining('slipway rollouts promote chat'),
    expect.not.stringContaining('slipway'),
  ]);
});

it('shows the share that sessions make of a soak', () => {
  const share = { configured_percent: 10, received_percent: 100, requests: 40, sessions: 1 };
  const steps = operation(4).steps.map((step) => (step.index === 4 ? { ...step, evidence: { share } } : step));
  const sight = firstSight(operation(4, { steps }));
  expect(linesOf(sight, frame(100)).join('\n')).toMatch(/soak:1 .*10 % requested, 100 % received, 1 session/);
  expect(linesBetween(undefined, sight, NOW).join('\n')).toMatch(/^soak:1: waiting .*sessions change the share/m);
});

it('numbers and times are short', () => {
  expect([clock(0), clock(125_000), clock(3_609_000), clock(-5)]).toEqual(['0:00', '2:05', '1:00:09', '0:00']);
  expect(measured('error_rate', 0.01234)).toBe('1.23 %');
  expect(measured('output_tokens_per_s', 41.06)).toBe('41.1/s');
  expect(measured('ttft_ms', null)).toBe('-');
  expect([cut('abcdef', 4), cut('漢字漢字', 5), cut('abc', 0)]).toEqual(['abc…', '漢字…', '']);
});

it('shows guards before and after they are judged', () => {
  const asked = operation(7);
  asked.result = {
    ...asked.result,
    gate: { metrics: [], guards: [{ name: 'overloaded_rate', max_difference: 0.05 }] },
  };
  const before = firstSight(asked);
  expect(before.checks).toMatchObject([{ metric: 'overloaded_rate', check: 'guard', limit: 0.05, verdict: '' }]);
  expect(linesOf(withEvent(before, guarded), frame(80)).join('\n')).toMatch(/overloaded_rate rate .* \+5 pts +pass/);
});
