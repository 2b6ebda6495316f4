import { describe, expect, it } from '@jest/globals';
import { changesOf, findingOf, outcomeOf, proposalOf, situation, specOf } from '../../test/situations.js';

const ALL = { experiment_budget: { allowed_knobs: ['scaling'] } };
const followed = (max_replicas: number) => specOf({ min_replicas: 1, max_replicas, target_in_flight: 20 });

describe('a fixed number of replicas', () => {
  it('rises to what is needed at once', () => {
    // Three times the requests that one instance has served with 14 at once.
    const busy = { arrivalsPerMinute: 240 };
    const [change] = changesOf(situation({ service: busy }));
    expect(change).toMatch(/^\/scaling\/min_replicas [3-9]$/);
  });

  it('is sized for traffic that has just risen, although it was seldom so high within a week', () => {
    const { records, ...rest } = situation();
    const older = Array.from({ length: 7 * 24 * 60 }, (_, minute) => ({
      at: new Date(records!.history[0]!.at.getTime() - (minute + 1) * 60_000),
      seconds: 60,
      count: 5,
    }));
    const arrivals = [...older.reverse(), ...records!.arrivals];
    const of = { ...rest, records: { ...records!, arrivals } };
    expect(changesOf(of)).toEqual(['/scaling/min_replicas 2']);
    expect(proposalOf(of)!.sentences[2]).toMatch(/^Up to 1\.\d+ requests\/s/);
  });

  it('keeps spare replicas and is not below the minimum of the policy', () => {
    expect(changesOf(situation({ policy: { reliability: { spare_replicas: 2 } } }))).toEqual([
      '/scaling/min_replicas 4',
    ]);
    expect(changesOf(situation({ policy: { reliability: { min_replicas: 5 } } }))).toEqual(['/scaling/min_replicas 5']);
  });

  it('takes the maximum of the spec with it, which would be contradicted', () => {
    const spec = specOf({ min_replicas: 1, max_replicas: 1 });
    expect(changesOf(situation({ spec, policy: ALL }))).toEqual(['/scaling/min_replicas 2', '/scaling/max_replicas 2']);
    const finding = findingOf({ spec });
    expect(finding).toMatchObject({ because: 'no_allowed_knob' });
    expect(finding.message).toContain('scaling.max_replicas');
  });

  it('costs the hours of its devices, those of the rollout included', () => {
    const devices = { accelerator: 'nvidia-l4', count: 2 };
    const price = { amount: 0.8, currency: 'EUR' };
    expect(proposalOf(situation({ devices, price, policy: { experiment_budget: { period: 'day' } } }))).toMatchObject({
      replicas: { from: 1, to: 2 },
      // One more replica for a day, and both of the candidate for five steps of 180 s.
      gpuHours: 2 * 24 + (2 * 2 * 5 * 180) / 3_600,
      cost: { now: { amount: 1.6, currency: 'EUR' }, predicted: { amount: 3.2, currency: 'EUR' } },
    });
    expect(proposalOf(situation())).toMatchObject({ gpuHours: 0, cost: null });
  });

  it('costs less if the steps of the rollout are shorter', () => {
    const devices = { accelerator: 'nvidia-l4', count: 2 };
    const hoursWith = (min_duration_seconds: number) =>
      proposalOf(
        situation({ devices, policy: { evidence: { min_duration_seconds }, experiment_budget: { period: 'day' } } }),
      )!.gpuHours;
    expect([60, 120, 600].map(hoursWith)).toEqual(
      [60, 120, 180].map((seconds) => Math.round((48 + (2 * 2 * 5 * seconds) / 3_600) * 1e3) / 1e3),
    );
  });
});

describe('a number that follows the load', () => {
  it('gets a higher maximum if it was at the maximum', () => {
    expect(changesOf(situation({ spec: followed(1), policy: ALL }))).toEqual(['/scaling/max_replicas 2']);
    expect(outcomeOf(situation({ spec: followed(1) }))).toBe('missed no_allowed_knob');
  });

  it('gets a lower target if it was below the maximum', () => {
    const service = { instancesIn: () => 2 };
    const proposal = proposalOf(situation({ spec: followed(8), policy: ALL, service }));
    expect(proposal).toMatchObject({ kind: 'retarget', changes: [{ path: '/scaling/target_in_flight', from: 20 }] });
    expect(proposal!.changes[0]!.value).toBeGreaterThanOrEqual(1);
    // Ten at once take a second, and some of them 40 % longer.
    expect(proposal!.changes[0]!.value).toBeLessThan(10);
  });

  it('keeps its target if that is not above what meets the SLO', () => {
    const spec = specOf({ min_replicas: 1, max_replicas: 8, target_in_flight: 1 });
    expect(outcomeOf(situation({ spec, policy: ALL, service: { instancesIn: () => 2 } }))).toBe('missed unknown');
  });

  it('gets a higher minimum if the SLO is missed only while instances start', () => {
    const service = {
      loadIn: (minute: number) => (minute < 90 ? 1 + (minute % 6) * 2 : 2),
      startingIn: (minute: number) => (minute % 8 === 0 ? 10 : 1),
      instancesIn: () => 3,
      arrivalsPerMinute: 59,
    };
    const at = (min_replicas: number) => specOf({ min_replicas, max_replicas: 4, target_in_flight: 20 });
    expect(changesOf(situation({ spec: at(1), service }))).toEqual(['/scaling/min_replicas 2']);
    expect(findingOf({ spec: at(0), service: { ...service, heldMs: 3_000 } })).toMatchObject({
      because: 'starting',
      message: expect.stringMatching(
        /min_replicas is 0, .* 30 requests waited for an instance, 95 % of them less than 3\.\d+ s\.$/,
      ),
    });
    expect(outcomeOf(situation({ spec: at(3), service }))).toBe('missed starting');
    expect(outcomeOf(situation({ spec: specOf({ min_replicas: 3 }), service }))).toBe('missed starting');
  });
});

describe('availability', () => {
  const policy = { slos: [], reliability: { min_availability_percent: 99.9 } };
  const refused = { refusedMinutes: 100, olderMinutes: 9_880 };

  it('that one instance misses leads to a second one', () => {
    const proposal = proposalOf(situation({ policy, service: refused }));
    expect(proposal).toMatchObject({
      kind: 'scale_up',
      changes: [{ path: '/scaling/min_replicas', from: 1, value: 2 }],
      predictions: [{ metric: 'availability_percent', now: 99 }],
    });
    const [{ predicted }] = proposal!.predictions as [(typeof proposal & object)['predictions'][0]];
    expect(predicted.low).toBeLessThan(predicted.value);
    expect(predicted.value).toBeCloseTo(99.99, 3);
    expect(proposal!.sentences[0]).toBe(
      'Availability is 99 %, limit 99.9: requests were refused in 100 of 10,000 minutes, because no instance could be had.',
    );
  });

  it('that several instances miss does not', () => {
    expect(outcomeOf(situation({ policy, service: refused, spec: specOf({ min_replicas: 2 }) }))).toBe(
      'missed availability',
    );
    const sleeping = specOf({ min_replicas: 0, max_replicas: 2, target_in_flight: 4 });
    expect(outcomeOf(situation({ policy, service: refused, spec: sleeping }))).toBe('missed availability');
  });

  it('is not missed by chance', () => {
    expect(outcomeOf(situation({ policy, service: { refusedMinutes: 1, olderMinutes: 800 } }))).not.toMatch(
      /propose|missed/,
    );
    expect(outcomeOf(situation({ policy, service: { refusedMinutes: 0, olderMinutes: 9_880 } }))).not.toMatch(
      /propose|missed/,
    );
  });
});

describe('the budget', () => {
  const devices = { accelerator: 'nvidia-l4', count: 1 };
  const price = { amount: 1, currency: 'EUR' };
  const within = (experiment_budget: object, more: object = {}) =>
    outcomeOf(situation({ devices, policy: { experiment_budget: { period: 'day', ...experiment_budget } }, ...more }));

  it('limits the number of plans, zero included', () => {
    expect(within({ max_experiments: 0 })).toBe('missed budget');
    expect(within({ max_experiments: 3 }, { history: { proposedInPeriod: 2 } })).toBe('propose');
    expect(within({ max_experiments: 3 }, { history: { proposedInPeriod: 3 } })).toBe('missed budget');
  });

  it('limits device hours, those of earlier plans included', () => {
    expect(within({ max_gpu_hours: 24.5 })).toBe('propose');
    expect(within({ max_gpu_hours: 24 })).toBe('missed budget');
    expect(within({ max_gpu_hours: 48 }, { history: { gpuHoursInPeriod: 24 } })).toBe('missed budget');
    expect(within({ max_gpu_hours: 0 })).toBe('missed budget');
    expect(within({ max_gpu_hours: 0 }, { devices: { accelerator: null, count: 0 } })).toBe('propose');
  });

  it('limits the cost by the price, and is left to the approver without one', () => {
    const cost = (amount: number) => ({ max_cost: { amount, currency: 'EUR' } });
    expect(within(cost(24.5), { price })).toBe('propose');
    expect(within(cost(24), { price })).toBe('missed budget');
    expect(within(cost(1), { price: { amount: 1, currency: 'USD' } })).toBe('propose');
    expect(within(cost(1))).toBe('propose');
    expect(within(cost(0))).toBe('missed budget');
    const { risk } = proposalOf(situation({ devices, policy: { experiment_budget: cost(1) } }))!;
    expect(risk.reasons).toEqual([expect.stringContaining('the approver must check that this stays within 1 EUR')]);
  });
});
