import { describe, expect, it } from '@jest/globals';
import { changesOf, outcomeOf, proposalOf, QUIET_WEEK, quietWeek, situation } from '../../test/situations.js';

const devices = { accelerator: 'nvidia-l4', count: 1 };
const price = { amount: 0.8, currency: 'EUR' };
const minimize = (metric: 'gpu_hours_per_mtok' | 'cost_per_mtok') => ({ metric, direction: 'minimize' }) as const;

describe('an objective of cost', () => {
  it('leads to fewer replicas, if the gain is large enough', () => {
    const objective = minimize('gpu_hours_per_mtok');
    expect(changesOf(quietWeek({ devices, policy: { objective } }))).toEqual(['/scaling/min_replicas 2']);
    const promotion = { min_gain_percent: 60 };
    expect(outcomeOf(quietWeek({ devices, policy: { objective, promotion } }))).toBe('quiet min_gain');
    // Without an objective, any replica that is not needed goes.
    expect(outcomeOf(quietWeek({ devices, policy: { promotion } }))).toBe('propose');
  });

  it('needs devices, and money needs a price', () => {
    const cost = minimize('cost_per_mtok');
    expect(outcomeOf(quietWeek({ policy: { objective: cost } }))).toBe('quiet no_accelerator');
    expect(outcomeOf(quietWeek({ devices, policy: { objective: cost } }))).toBe('quiet no_price');
    expect(proposalOf(quietWeek({ devices, price, policy: { objective: cost } }))).toMatchObject({
      cost: { now: { amount: 3.2 }, predicted: { amount: 1.6 } },
    });
  });
});

describe('an objective of latency', () => {
  const objective = { metric: 'ttft_ms', direction: 'minimize' } as const;
  /** One replica with a queue, whose loads were all seen. */
  const BUSY = { loadIn: (minute: number) => (minute < 90 ? 1 + (minute % 12) * 2 : 6), arrivalsPerMinute: 50 };

  const queueing = (policy: object = {}) =>
    situation({
      devices,
      service: BUSY,
      policy: {
        objective,
        slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 10_000 }],
        experiment_budget: { max_gpu_hours: 10_000 },
        ...policy,
      },
    });

  it('leads to one more replica within the budget', () => {
    expect(changesOf(queueing())).toEqual(['/scaling/min_replicas 2']);
    expect(proposalOf(queueing())!.sentences[1]).toMatch(
      /^Run 2 replicas instead of 1, which improves it by \d+(\.\d+)? % \(at least \d+(\.\d+)? %\)\.$/,
    );
    expect(outcomeOf(queueing({ experiment_budget: { max_gpu_hours: 10 } }))).toBe('quiet budget');
    expect(outcomeOf(queueing({ experiment_budget: {} }))).toBe('quiet no_budget');
  });

  it('leads to none without a sure gain', () => {
    expect(outcomeOf(queueing({ promotion: { min_gain_percent: 99 } }))).toBe('quiet min_gain');
    const idle = { ...QUIET_WEEK, loadIn: () => 1, requestsPerMinute: 10 };
    const policy = { objective, experiment_budget: { max_gpu_hours: 10_000 } };
    expect(outcomeOf(quietWeek({ service: idle, policy }))).toBe('quiet min_gain');
  });

  it('keeps replicas that no SLO needs', () => {
    expect(outcomeOf(quietWeek({ policy: { objective } }))).toBe('quiet no_budget');
    expect(outcomeOf(quietWeek())).toBe('propose');
  });

  it('in the worse direction, as an earlier release stored it, does nothing', () => {
    expect(outcomeOf(queueing({ objective: { metric: 'ttft_ms', direction: 'maximize' } }))).toBe('quiet direction');
  });
});
