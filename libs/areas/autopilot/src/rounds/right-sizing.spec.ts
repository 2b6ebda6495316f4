import { describe, expect, it } from '@jest/globals';
import { evaluate } from './evaluation.js';
import { changesOf, outcomeOf, proposalOf, QUIET_WEEK, quietWeek, specOf } from '../../test/situations.js';

const DAY_MINUTES = 24 * 60;

describe('fewer replicas', () => {
  it('are proposed if they were enough for a week, with what they are predicted to do', () => {
    const proposal = proposalOf(quietWeek())!;
    expect(proposal).toMatchObject({
      kind: 'scale_down',
      changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 4, value: 2 }],
      gpuHours: 0,
    });
    expect(proposal.predictions[0]!.predicted.high).toBeLessThan(1_200);
    expect(proposal.sentences).toEqual([
      expect.stringMatching(
        /^All SLOs are met: .* 2 of 4 replicas are needed up to [\d.]+ requests\/s, for at least 7 days\.$/,
      ),
      'Run 2 replicas instead of 4, which saves 50 % of its instance hours.',
      expect.stringMatching(/^Up to [\d.]+ requests\/s that predicts TTFT p95 \d+ ms/),
    ]);
  });

  it('are not proposed before that time, and the decision says until when', () => {
    const early = quietWeek({ service: { ...QUIET_WEEK, olderMinutes: 3 * DAY_MINUTES } });
    const { finding } = evaluate(early);
    expect(finding).toMatchObject({ kind: 'quiet', because: 'right_size_after' });
    const first = early.records!.arrivals[0]!.at.getTime();
    expect(finding).toMatchObject({ until: new Date(first + 604_800_000) });
    const patient = { reliability: { right_size_after_seconds: 3 * 86_400 } };
    expect(outcomeOf(quietWeek({ service: { ...QUIET_WEEK, olderMinutes: 3 * DAY_MINUTES }, policy: patient }))).toBe(
      'propose',
    );
  });

  it('stay above the minimum and the spare replicas of the policy', () => {
    const within = (reliability: object) => changesOf(quietWeek({ policy: { reliability } }));
    expect(within({ min_replicas: 3 })).toEqual(['/scaling/min_replicas 3']);
    expect(within({ spare_replicas: 1 })).toEqual(['/scaling/min_replicas 3']);
    expect(within({ min_replicas: 4 })).toEqual(['quiet met']);
    expect(within({ spare_replicas: 2 })).toEqual(['quiet met']);
  });

  it('are not proposed if the survivors would miss the SLO, at the upper end of their interval', () => {
    const loadIn = (minute: number) => (minute < 90 ? 1 + (minute % 12) * 2 : 2);
    const service = { ...QUIET_WEEK, loadIn, instancesIn: () => 2, arrivalsPerMinute: 50 };
    const two = { spec: specOf({ min_replicas: 2 }), service };
    const limit = (threshold: number) => ({ slos: [{ metric: 'ttft_ms' as const, stat: 'p95' as const, threshold }] });
    // One replica has up to thirteen requests at once, whose first tokens take more than 1.2 s and less than 5 s.
    expect(outcomeOf(quietWeek({ ...two, policy: limit(1_200) }))).toBe('quiet met');
    expect(changesOf(quietWeek({ ...two, policy: limit(5_000) }))).toEqual(['/scaling/min_replicas 1']);
  });

  it('are not proposed for a load that was never seen', () => {
    const light = { ...QUIET_WEEK, loadIn: () => 1, arrivalsPerMinute: 240 };
    expect(outcomeOf(quietWeek({ service: light }))).toMatch(/^quiet (met|no_prediction)$/);
  });

  it('are only said if the deployment overrides the number, or the knob is not allowed', () => {
    expect(outcomeOf(quietWeek({ override: { min_replicas: 4 } }))).toBe('quiet deployment_overrides');
    expect(outcomeOf(quietWeek({ policy: { experiment_budget: { allowed_knobs: ['model'] } } }))).toBe(
      'quiet no_allowed_knob',
    );
  });

  it('lower the minimum of a number that follows the load, if the minimum kept it up', () => {
    const spec = specOf({ min_replicas: 4, max_replicas: 8, target_in_flight: 8 });
    expect(changesOf(quietWeek({ spec }))).toEqual(['/scaling/min_replicas 2']);
    const objective = { metric: 'gpu_hours_per_mtok', direction: 'minimize' } as const;
    const devices = { accelerator: 'nvidia-l4', count: 1 };
    const above = { ...QUIET_WEEK, instancesIn: () => 6, arrivalsPerMinute: 59 };
    expect(outcomeOf(quietWeek({ spec, devices, policy: { objective } }))).toBe('propose');
    expect(outcomeOf(quietWeek({ spec, devices, policy: { objective }, service: above }))).toBe('quiet min_gain');
  });
});

it('an accepted plan for fewer replicas is not followed by one for more', () => {
  const { records } = quietWeek();
  const after = quietWeek({ records, spec: specOf({ min_replicas: 2 }) });
  expect(outcomeOf(after)).toBe('quiet met');
});
