import { describe, expect, it } from '@jest/globals';
import type { Slo } from '@slipway/ports/policies';
import { findingOf, NOW, outcomeOf, quietWeek, situation, SLO, specOf } from '../../test/situations.js';

const HOUR = 3_600_000;
const FREEZE = { start: '2026-06-01T00:00:00Z', end: '2026-06-02T00:00:00Z' };

describe('a missed SLO', () => {
  it('leads to a plan whose text says what is wrong, what to change and what will be different', () => {
    const finding = findingOf();
    expect(finding).toMatchObject({ kind: 'propose', goals: [{ cause: 'load_dependent' }] });
    const sentences = finding.message.split(/(?<=\.) (?=[A-Z])/);
    expect(sentences).toEqual([
      expect.stringMatching(
        /^TTFT p95 is 1,\d{3} ms, limit 1,200; on an idle instance it is 1\d\d ms \(1\d\d to 1\d\d\), the rest is waiting\.$/,
      ),
      'Run 2 replicas instead of 1 at the peak: scaling.min_replicas 2 instead of 1.',
      expect.stringMatching(
        /^Up to [\d.]+ requests\/s that predicts TTFT p95 \d{3} ms \(\d{3} to [\d,]+, not yet calibrated\)\.$/,
      ),
    ]);
  });

  it.each<[string, Parameters<typeof situation>[0], string]>([
    ['the mode only observes', { policy: { mode: 'observe' } }, 'missed observe'],
    ['a freeze window is open', { policy: { reliability: { freeze_windows: [FREEZE] } } }, 'missed freeze_window'],
    [
      'a freeze window has just ended',
      { policy: { reliability: { freeze_windows: [{ start: FREEZE.start, end: NOW.toISOString() }] } } },
      'propose',
    ],
    ['a plan is open', { history: { hasOpenPlan: true } }, 'quiet open_plan'],
    ['an operation runs', { isChanging: true }, 'quiet operation_in_progress'],
    [
      'the last plan is 23 hours old',
      { history: { lastProposedAt: new Date(NOW.getTime() - 23 * HOUR) } },
      'quiet cooldown',
    ],
    ['the last plan is 24 hours old', { history: { lastProposedAt: new Date(NOW.getTime() - 24 * HOUR) } }, 'propose'],
    ['no knob is allowed', { policy: { experiment_budget: { allowed_knobs: [] } } }, 'missed no_allowed_knob'],
    [
      'another knob is allowed',
      { policy: { experiment_budget: { allowed_knobs: ['max_num_seqs'] } } },
      'missed no_allowed_knob',
    ],
    ['the deployment overrides the number', { override: { min_replicas: 1 } }, 'missed deployment_overrides'],
    ['the deployment overrides something else', { override: { idle_seconds: 60 } }, 'propose'],
  ])('when %s', (_, changes, outcome) => {
    expect(outcomeOf(situation(changes))).toBe(outcome);
  });

  it('leads to no plan while one may not be written, and says until when', () => {
    expect(findingOf({ policy: { reliability: { freeze_windows: [FREEZE] } } })).toMatchObject({
      until: new Date(FREEZE.end),
      message: expect.stringContaining('2026-06-02T00:00:00.000Z'),
    });
    expect(findingOf({ history: { lastProposedAt: new Date(NOW.getTime() - HOUR) } })).toMatchObject({
      until: new Date(NOW.getTime() + 23 * HOUR),
      message: expect.stringContaining('cooldown_seconds is 24 h'),
    });
  });

  it('leads to the request that a person can send if the deployment overrides the field', () => {
    expect(findingOf({ override: { min_replicas: 1 } })).toMatchObject({
      request: { scaling: { min_replicas: 2 } },
      message: expect.stringContaining('PATCH /api/v1/deployments/chat with {"scaling":{"min_replicas":2}}'),
    });
  });

  it('names the knob that is missing', () => {
    expect(findingOf({ policy: { experiment_budget: { allowed_knobs: ['max_num_seqs'] } } }).message).toContain(
      'allowed_knobs does not allow scaling.min_replicas',
    );
  });
});

describe('a plan for more replicas is never written', () => {
  const slow = (load: number) => 2_000 * load;

  it('if requests miss the SLO on an idle instance', () => {
    const finding = findingOf({ service: { firstTokenMs: slow } });
    expect(finding).toMatchObject({ kind: 'missed', because: 'intrinsic' });
    expect(finding.message).toContain('Even on an idle instance');
  });

  it('if failures explain it', () => {
    const failuresIn = (minute: number) => (minute >= 105 ? 0.4 : 0);
    const loadIn = (minute: number) => (minute >= 105 ? 14 : 2);
    expect(outcomeOf(situation({ service: { loadIn, failuresIn } }))).toBe('missed errors');
    const slos: Slo[] = [{ metric: 'error_rate', stat: 'rate', threshold: 0.01 }];
    expect(outcomeOf(situation({ policy: { slos }, service: { failuresIn: () => 0.1 } }))).toBe('missed errors');
  });

  it('if the low loads were never seen', () => {
    expect(outcomeOf(situation({ service: { loadIn: () => 14 } }))).toBe('missed unknown');
  });

  it('if no number of replicas has a prediction', () => {
    expect(outcomeOf(situation({ service: { kvUsage: 0.95 } }))).toBe('missed no_prediction');
  });

  it('if as many as should be enough run already', () => {
    const spec = { ...situation().spec, scaling: { min_replicas: 3 } };
    const finding = findingOf({ spec });
    expect(finding).toMatchObject({ kind: 'missed', because: 'unknown' });
    expect(finding.message).toContain('2 replicas should be enough, and 3 run');
  });

  it('for one goal while failures explain another', () => {
    const policy = { reliability: { max_error_rate: 0.01 } };
    expect(outcomeOf(situation({ policy, service: { failuresIn: () => 0.04 } }))).toBe('missed errors');
    expect(outcomeOf(situation({ service: { failuresIn: () => 0.04 } }))).toBe('propose');
  });
});

it('proposes replicas for the goal that load explains, although another one is intrinsic', () => {
  const slos: Slo[] = [SLO, { metric: 'itl_ms', stat: 'p95', threshold: 2 }];
  expect(findingOf({ policy: { slos } })).toMatchObject({
    kind: 'propose',
    options: [{ kind: 'scale_up', predictions: [{ metric: 'ttft_ms' }, { metric: 'itl_ms' }] }],
  });
});

describe('thin evidence', () => {
  it.each<[string, Parameters<typeof situation>[0], string]>([
    ['too few samples', { service: { requestsPerMinute: 1 } }, 'insufficient samples'],
    ['no gateway', { records: undefined }, 'insufficient no_gateway'],
    [
      'a window that is not kept',
      { policy: { evidence: { min_duration_seconds: 2_600_000 } } },
      'insufficient not_recorded_so_long',
    ],
  ])('leads to no proposal: %s', (_, changes, outcome) => {
    expect(outcomeOf(situation(changes))).toBe(outcome);
  });

  it('for one SLO does not hide that another is missed', () => {
    const slos: Slo[] = [{ metric: 'output_tokens_per_s', stat: 'p95', threshold: 1 }, SLO];
    expect(outcomeOf(situation({ policy: { slos } }))).toBe('propose');
  });
});

describe('nothing to do', () => {
  it('is said with numbers', () => {
    const service = { loadIn: (minute: number) => (minute < 90 ? 1 + (minute % 6) * 2 : 2) };
    const finding = findingOf({ service });
    expect(finding).toMatchObject({ kind: 'quiet', because: 'met' });
    expect(finding.message).toMatch(
      /^All SLOs are met: TTFT p95 is \d+ ms, limit 1,200\. By the values at each load, 2 replicas would be needed up to [\d.]+ requests\/s, and 1 runs\.$/,
    );
    expect(findingOf({ service, spec: specOf({ min_replicas: 2 }) }).message).toMatch(
      / 2 of 2 replicas are needed up to [\d.]+ requests\/s\.$/,
    );
  });

  it('is the finding without an SLO, and in mode off', () => {
    expect(outcomeOf(situation({ policy: { slos: [] } }))).toBe('quiet no_slos');
    expect(outcomeOf(situation({ policy: { mode: 'off' } }))).toBe('quiet off');
  });

  it('also waits for the mode, an open plan, a freeze window and the cooldown', () => {
    expect(outcomeOf(quietWeek())).toBe('propose');
    expect(outcomeOf(quietWeek({ policy: { mode: 'observe' } }))).toBe('quiet observe');
    expect(outcomeOf(quietWeek({ history: { hasOpenPlan: true } }))).toBe('quiet open_plan');
    expect(outcomeOf(quietWeek({ policy: { reliability: { freeze_windows: [FREEZE] } } }))).toBe('quiet freeze_window');
    expect(outcomeOf(quietWeek({ history: { lastProposedAt: NOW } }))).toBe('quiet cooldown');
    expect(outcomeOf(quietWeek({ policy: { experiment_budget: { max_experiments: 0 } } }))).toBe('quiet budget');
  });
});
