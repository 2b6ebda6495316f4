import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emptyLoads, HistogramRecorder, reportGateway, type Callers, type Histogram } from '@slipway/dataplane';
import type { Deployment } from '@slipway/ports/deployment-records';
import { canary, RolloutsBed, spec, UNJUDGED } from '../../test/rollouts-bed.js';
import type { AnalysisDto, AnalysisMetricDto } from '@slipway/ports/deployment-records';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
  await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
}, 60_000);
afterAll(() => bed?.stop());

/**
 * A metric over the last hour. A test records its samples a minute ago, so they stay within it however long the test
 * runs.
 */
const metric = (more: Partial<AnalysisMetricDto> = {}) =>
  ({
    name: 'error_rate',
    check: 'threshold',
    threshold: 0.05,
    min_samples: 50,
    failure_limit: 0,
    dry_run: false,
    window_seconds: 3_600,
    ...more,
  }) as AnalysisMetricDto;
const analysis = (metrics: AnalysisMetricDto[], more: Partial<AnalysisDto> = {}): AnalysisDto => ({
  metrics,
  on_failure: 'rollback',
  on_inconclusive: 'pause',
  ...more,
});
const histogram = (value: number, samples: number): Histogram => {
  const recorder = new HistogramRecorder();
  for (let index = 0; index < samples; index += 1) recorder.record(value * (0.9 + (0.2 * index) / samples));
  return recorder.snapshot();
};
const latency = (value: number, samples: number) => ({
  ok: samples,
  more: { e2e_latency_ms: histogram(value, samples) },
});

const GOOD = { ok: 100 };
const BAD = { ok: 50, failed: 50 };
const FEW = { ok: 10 };
const NONE = { ok: 0 };

/** Starts a canary whose candidate has these recorded requests. */
async function begin(served: Parameters<RolloutsBed['served']>[1], asked: AnalysisDto, percents = [100]) {
  const deployment = await bed.serving();
  const id = await bed.rollout(deployment, { spec: spec('next'), strategy: canary(...percents), analysis: asked });
  const candidate = await bed.revision(deployment, 2);
  await bed.served(candidate.id, served);
  return { deployment, id, candidate };
}

const routed = (deployment: Deployment) => bed.targets(deployment);
const first = ({ name }: Deployment) => `${name}-00001`;
const second = ({ name }: Deployment) => `${name}-00002`;

describe('the analysis of a canary', () => {
  it('promotes a candidate that passes', async () => {
    const { deployment, id } = await begin(GOOD, analysis([metric()]));
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'succeeded',
      result: { outcome: 'promoted', analysis: { 'analyze:1': { verdict: 'pass' } } },
    });
    expect(routed(deployment)).toEqual([[second(deployment), 100]]);
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
      { step: 'analyze:1', verdict: 'pass' },
    ]);
  });

  it.each([
    ['breached', BAD, 'on_failure', 'analysis_failed'],
    ['inconclusive', FEW, 'on_inconclusive', 'analysis_inconclusive'],
    ['unavailable', NONE, 'on_inconclusive', 'metrics_unavailable'],
  ] as const)(
    'restores the route if the verdict is %s and its action is rollback',
    async (verdict, served, which, code) => {
      const other = which === 'on_failure' ? 'on_inconclusive' : 'on_failure';
      const { deployment, id } = await begin(served, analysis([metric()], { [which]: 'rollback', [other]: 'pause' }));
      const record = await bed.finish(id);
      expect(record).toMatchObject({
        status: 'failed',
        error_code: code,
        result: { outcome: 'reverted', analysis: { 'analyze:1': { verdict } } },
        message: expect.stringMatching(`^${verdict}: error_rate rate `),
      });
      expect(record['steps'].map((step: any) => `${step.name} ${step.status}`)).toEqual(
        expect.arrayContaining(['analyze:1 failed', 'promote pending']),
      );
      expect(routed(deployment)).toEqual([[first(deployment), 100]]);
      expect(await bed.activations(deployment)).toEqual(['1']);
      expect(await bed.events(deployment, 'rollout.promoted')).toHaveLength(1);
    },
  );

  it.each([
    ['breached', BAD, 'on_failure'],
    ['inconclusive', FEW, 'on_inconclusive'],
    ['unavailable', NONE, 'on_inconclusive'],
  ] as const)(
    'pauses the canary if the verdict is %s and its action is pause, until a person resumes it',
    async (verdict, served, which) => {
      const other = which === 'on_failure' ? 'on_inconclusive' : 'on_failure';
      const asked = analysis([metric()], { [which]: 'pause', [other]: 'rollback' });
      const { deployment, id } = await begin(served, asked, [40, 100]);
      const canaried = [
        [first(deployment), 60],
        [second(deployment), 40],
      ];
      expect(await bed.finish(id)).toMatchObject({
        status: 'waiting',
        current_step: 'analyze:1',
        message: expect.stringMatching(`^${verdict}: `),
      });
      expect(await bed.sql('select awaiting from operations where id = $1', [id])).toEqual([{ awaiting: 'pause' }]);
      expect(await bed.events(deployment, 'rollout.paused')).toMatchObject([{ step: 'analyze:1', reason: verdict }]);
      // Only a person can resume it, not a wake-up.
      await bed.wake(id);
      expect(await bed.record(id)).toMatchObject({ status: 'waiting', current_step: 'analyze:1' });
      expect(routed(deployment)).toEqual(canaried);
      expect(await bed.activations(deployment)).toEqual(['1']);

      await bed.resume(id);
      const next = await bed.finish(id);
      // The next step gets its own verdict, from the requests served there.
      expect(next).toMatchObject({ status: 'waiting', current_step: 'analyze:2' });
      expect(next['steps'].find((step: any) => step.name === 'analyze:1')).toMatchObject({
        status: 'succeeded',
        message: `${verdict}; passed by a person`,
      });
      await bed.resume(id);
      expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
      expect(routed(deployment)).toEqual([[second(deployment), 100]]);
    },
  );

  it('judges nothing if the analysis is none', async () => {
    const deployment = await bed.serving();
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: canary(100), analysis: UNJUDGED });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { gate: null } });
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toEqual([]);
  });
});

describe('several metrics', () => {
  const slow = (more: Partial<AnalysisMetricDto>) => metric({ name: 'e2e_latency_ms', threshold: 100, ...more });

  it('reports a dry run, which blocks nothing even next to a metric that counts', async () => {
    const { id, deployment } = await begin(BAD, analysis([metric({ dry_run: true })]));
    expect(await bed.finish(id)).toMatchObject({
      status: 'succeeded',
      result: { analysis: { 'analyze:1': { verdict: 'pass', metrics: [{ verdict: 'breached', dry_run: true }] } } },
    });
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
      { verdict: 'pass', metrics: [{ verdict: 'breached', dry_run: true }] },
    ]);
    const both = [slow({ stat: 'p50', dry_run: true }), slow({ stat: 'p99' }), metric({ dry_run: true })];
    const mixed = await begin(BAD, analysis(both, { on_inconclusive: 'rollback' }));
    const record = await bed.finish(mixed.id);
    expect(record).toMatchObject({ status: 'failed', error_code: 'metrics_unavailable' });
    // The message blames only metrics that count.
    expect(record['message']).toBe('unavailable: e2e_latency_ms p99 has no value (0 samples, limit 100)');
  });

  it.each([
    ['breached before unavailable', BAD, [metric(), slow({})], 'analysis_failed'],
    [
      'breached before inconclusive',
      BAD,
      [metric({ min_samples: 500 }), metric({ min_samples: 100 })],
      'analysis_failed',
    ],
    ['unavailable before inconclusive', FEW, [metric(), slow({})], 'metrics_unavailable'],
    ['inconclusive before pass', GOOD, [metric(), metric({ min_samples: 101 })], 'analysis_inconclusive'],
  ])('takes the worst verdict: %s', async (_what, served, metrics, code) => {
    const asked = analysis(metrics, { on_failure: 'rollback', on_inconclusive: 'rollback' });
    expect(await bed.finish((await begin(served, asked)).id)).toMatchObject({ status: 'failed', error_code: code });
  });
});

describe('failure_limit', () => {
  it('forgives the configured number of breaches over the steps of one rollout', async () => {
    const { deployment, id } = await begin(BAD, analysis([metric({ failure_limit: 1 })]), [20, 60, 100]);
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'analysis_failed',
      result: { analysis: { 'analyze:1': { verdict: 'pass' }, 'analyze:2': { verdict: 'breached' } } },
    });
    expect(routed(deployment)).toEqual([[first(deployment), 100]]);
    const patient = await begin(BAD, analysis([metric({ failure_limit: 2 })]), [50, 100]);
    expect(await bed.finish(patient.id)).toMatchObject({ status: 'succeeded' });
  });

  it('counts only breaches of the same metric, statistic and check, and no passes', async () => {
    // Another statistic of the same metric breaches at each step, and has a higher limit.
    const served = latency(200, 100);
    const tail = { name: 'e2e_latency_ms', threshold: 100, failure_limit: 9 } as const;
    const asked = analysis([metric({ ...tail, stat: 'p50' }), metric({ failure_limit: 1 })]);
    const { id, candidate } = await begin(served, asked, [50, 100]);
    await bed.drive(id);
    // Between the two verdicts, the error rate exceeds its limit for the first time.
    await bed.served(candidate.id, { failed: 100, secondsAgo: 61 });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  });

  it.each([
    [
      'a regression',
      latency(300, 100),
      metric({ name: 'e2e_latency_ms', check: 'regression', max_regression_percent: 50 }),
    ],
    [
      'a metric whose check names the unusual operator',
      { ok: 100, more: { output_tokens_per_s: histogram(200, 100) } },
      metric({ name: 'output_tokens_per_s', operator: 'lte', threshold: 100 }),
    ],
    [
      'tokens per second, of which less is worse',
      { ok: 100, more: { output_tokens_per_s: histogram(10, 100) } },
      metric({ name: 'output_tokens_per_s', threshold: 100 }),
    ],
  ])('counts an earlier breach of %s', async (_what, served, one) => {
    const { deployment, id } = await begin(served, analysis([{ ...one, failure_limit: 1 }]), [50, 100]);
    await bed.served((await bed.revision(deployment, 1)).id, latency(100, 100));
    expect(await bed.finish(id)).toMatchObject({
      status: 'failed',
      error_code: 'analysis_failed',
      result: { analysis: { 'analyze:1': { verdict: 'pass' }, 'analyze:2': { verdict: 'breached' } } },
    });
  });
});

describe('the analysis of a soak', () => {
  it('waits until the gateways have reported the soak, and promotes nothing if they do not', async () => {
    await bed.gatewayUntil(new Date(Date.now() - 60_000));
    try {
      const { deployment, id } = await begin(FEW, analysis([metric({ min_samples: 10 })]));
      expect(await bed.drive(id)).toMatchObject({
        status: 'running',
        current_step: 'analyze:1',
        message: 'Waiting for the gateways to report the metrics of the soak.',
      });
      await bed.wake(id);
      expect(await bed.events(deployment, 'rollout.analysis_completed')).toEqual([]);
      await bed.age(id, 11);
      expect(await bed.finish(id)).toMatchObject({
        status: 'waiting',
        message: 'unavailable: the records of gateway gw are incomplete',
      });
      expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
        { verdict: 'unavailable', gateways: { missing: ['gw'] } },
      ]);
    } finally {
      await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
    }
  });

  it('does not wait for records if those that exist show a breach', async () => {
    await bed.gatewayUntil(new Date(Date.now() - 60_000));
    try {
      const { deployment, id } = await begin(BAD, analysis([metric()]));
      expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
      expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
        { verdict: 'breached', gateways: { missing: ['gw'] } },
      ]);
    } finally {
      await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
    }
  });

  it('promotes nothing if a gateway dates its records ahead', async () => {
    const { id, candidate } = await begin(GOOD, analysis([metric()]));
    await bed.served(candidate.id, { ...GOOD, secondsAgo: -3_600 });
    expect(await bed.finish(id)).toMatchObject({
      status: 'waiting',
      message: 'unavailable: the records of gateway gw are incomplete',
    });
  });

  it('reports a gateway that has left, and does not wait for it', async () => {
    const gone = { gatewayId: 'gw_gone', statsUntil: new Date(Date.now() - 60_000), followed: [], inFlight: [] };
    await bed.database.tx('system', (tx) => reportGateway(tx, gone));
    await bed.sql(`update dataplane_gateways set seen_at = now() - interval '11 seconds' where gateway_id = 'gw_gone'`);
    const steps = [{ traffic_percent: 100, soak_seconds: 30, requires_approval: false, pause: false }];
    const deployment = await bed.serving();
    const strategy = { type: 'canary' as const, steps };
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy, analysis: analysis([metric()]) });
    await bed.served((await bed.revision(deployment, 2)).id, GOOD);
    await bed.drive(id);
    await bed.age(id, 31);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
      { verdict: 'pass', gateways: { left: ['gw_gone'] } },
    ]);
  });

  it('waits for a candidate that does not answer its probe, but not for ever', async () => {
    const { id, candidate } = await begin(GOOD, analysis([metric()]));
    const waiting = {
      status: 'running',
      current_step: 'analyze:1',
      message: 'The candidate does not respond to its probe.',
    };
    bed.neighbours.silent.add(candidate.id);
    expect(await bed.drive(id)).toMatchObject(waiting);
    // A candidate without a ready instance does not answer either.
    bed.neighbours.silent.delete(candidate.id);
    bed.neighbours.statuses.set(candidate.id, { ready: 0 });
    expect(await bed.wake(id)).toMatchObject(waiting);
    await bed.age(id, 11);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  });

  it('fails a candidate that crashed since it was ready, regardless of its records', async () => {
    const { deployment, id, candidate } = await begin(GOOD, analysis([metric()]));
    bed.neighbours.silent.add(candidate.id);
    await bed.drive(id);
    bed.neighbours.silent.delete(candidate.id);
    bed.neighbours.statuses.set(candidate.id, { restarts: 1 });
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'health_regression' });
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toEqual([]);
  });

  it('judges once, so later records change nothing', async () => {
    const { deployment, id, candidate } = await begin(GOOD, analysis([metric()]));
    // The verdict is stored and published. Its consequence follows when the step runs next.
    expect(await bed.drive(id)).toMatchObject({ current_step: 'analyze:1', status: 'running', message: 'pass' });
    await bed.served(candidate.id, { failed: 1_000, secondsAgo: 62 });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toHaveLength(1);
  });

  it('judges the soak, or the last window_seconds if they are set', async () => {
    const old = { ...BAD, secondsAgo: 600 };
    const beyond = await begin(old, analysis([metric({ window_seconds: 300 })], { on_inconclusive: 'rollback' }));
    expect(await bed.finish(beyond.id)).toMatchObject({ error_code: 'metrics_unavailable' });
    const within = await begin(old, analysis([metric({ window_seconds: 900 })]));
    expect(await bed.finish(within.id)).toMatchObject({ error_code: 'analysis_failed' });
    const soak = await begin(old, analysis([metric({ window_seconds: undefined })], { on_inconclusive: 'rollback' }));
    expect(await bed.finish(soak.id)).toMatchObject({ error_code: 'metrics_unavailable' });
  });

  it('compares with the stable revision in the same window, or in its last window with enough samples', async () => {
    const regression = metric({
      name: 'e2e_latency_ms',
      check: 'regression',
      max_regression_percent: 50,
      window_seconds: 120,
    });
    const asked = analysis([regression], { on_inconclusive: 'rollback' });
    const compared = async (...stable: Parameters<RolloutsBed['served']>[1][]) => {
      const { deployment, id } = await begin({ ...latency(100, 100), secondsAgo: 60 }, asked);
      const { id: stableId } = await bed.revision(deployment, 1);
      for (const one of stable) await bed.served(stableId, one);
      const record = await bed.finish(id);
      return [record['error_code'], record['result'].analysis['analyze:1'].metrics[0].baseline?.samples];
    };
    expect(await compared()).toEqual(['metrics_unavailable', 0]);
    // Three times as slow as in the same window. An hour ago, the stable revision was equally slow.
    const now = { ...latency(30, 60), secondsAgo: 61 };
    const earlier = { ...latency(100, 80), secondsAgo: 3_600 };
    expect(await compared(now, earlier)).toEqual(['analysis_failed', 60]);
    expect(await compared({ ...latency(30, 10), secondsAgo: 61 }, earlier)).toEqual([undefined, 80]);
  });
});

describe('a comparison by load', () => {
  const regression = metric({
    name: 'e2e_latency_ms',
    check: 'regression',
    threshold: undefined,
    max_regression_percent: 50,
    window_seconds: 120,
  });
  /** A baseline with too many concurrent requests to know how long a single one takes. */
  const busy = (value: number, samples: number) => {
    const values = latency(value, samples);
    const loads = { ...emptyLoads(), instances: 1 };
    loads.histograms.e2e_latency_ms = { 9: values.more.e2e_latency_ms };
    return { ...values, loads };
  };

  it.each([
    ['pause', { status: 'waiting', current_step: 'analyze:1' }],
    ['rollback', { status: 'failed', error_code: 'analysis_not_comparable', result: { outcome: 'reverted' } }],
  ] as const)('never promotes a candidate that is not comparable: %s', async (on_inconclusive, expected) => {
    const asked = analysis([regression], { on_inconclusive });
    const { deployment, id } = await begin({ ...latency(20, 100), secondsAgo: 60 }, asked);
    await bed.served((await bed.revision(deployment, 1)).id, { ...busy(100, 2_000), secondsAgo: 61 });
    expect(await bed.finish(id)).toMatchObject(expected);
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
      { verdict: 'not_comparable', metrics: [{ compared: { basis: null, traffic_ratio: 0.05 } }] },
    ]);
  });

  it('falls back to the last window before the rollout if the current one is not comparable', async () => {
    const { deployment, id } = await begin({ ...latency(90, 100), secondsAgo: 60 }, analysis([regression]));
    const { id: stableId } = await bed.revision(deployment, 1);
    await bed.served(stableId, { ...busy(100, 2_000), secondsAgo: 61 });
    await bed.sql(`update operations set created_at = created_at - interval '1 hour' where id = $1`, [id]);
    await bed.served(stableId, { ...latency(30, 90), secondsAgo: 4_000 });
    expect(await bed.finish(id)).toMatchObject({
      error_code: 'analysis_failed',
      result: { analysis: { 'analyze:1': { metrics: [{ baseline: { samples: 90 }, confidence: 0.998 }] } } },
    });
  });

  it('reports the confidence that each check has among all planned checks and metrics', async () => {
    const dry = { ...regression, dry_run: true };
    const { deployment, id } = await begin(latency(100, 100), analysis([regression, metric(), dry]), [20, 100]);
    await bed.served((await bed.revision(deployment, 1)).id, latency(100, 100));
    const { result } = await bed.finish(id);
    expect(result.analysis['analyze:1'].metrics.map((one: any) => one.confidence)).toEqual([0.999, null, 0.999]);
  });
});

describe('a candidate for which the stable revision was stopped', () => {
  it('is compared with the stable revision before its requests were held', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    await bed.served(stable.id, latency(100, 100));
    const regression = metric({
      name: 'e2e_latency_ms',
      check: 'regression',
      threshold: undefined,
      max_regression_percent: 50,
    });
    const steps = [{ traffic_percent: 100, soak_seconds: 0, requires_approval: false, pause: false }];
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: { type: 'recreate', steps },
      analysis: analysis([regression]),
    });
    await bed.served((await bed.revision(deployment, 2)).id, latency(300, 100));
    await bed.begin(id);
    // Its latencies while it drained must not count.
    bed.neighbours.routes.get(deployment.id)!.hold!.since = new Date(Date.now() - 10_000).toISOString();
    await bed.served(stable.id, { ...latency(5_000, 1_000), secondsAgo: 5 });
    await bed.age(id, 11);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
  });
});

describe('guards', () => {
  const callers = (outcome: number, of: number, events: number): Callers =>
    Object.fromEntries(
      Array.from({ length: 5 }, (_, bucket) => {
        const counts: Callers[string] = [of, 0, 0, 0, 0];
        counts[outcome] = events;
        return [bucket, counts];
      }),
    );
  const refused = { ok: 40, more: { client_error: 60, callers: callers(2, 20, 12) } };
  const gated = analysis([metric()]);
  const names = (list: any[]) => list.map(({ name, metric: one }) => name ?? one);
  const ADDED = ['client_error_rate', 'overloaded_rate', 'abandoned_rate'];

  /** Rolls out without a gate of its own; the soak covers the recorded requests. */
  async function ungated(served: Parameters<RolloutsBed['served']>[1], type: 'canary' | 'blue_green' = 'canary') {
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 120, requires_approval: false, pause: false }];
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy: { type, steps }, analysis: undefined });
    bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 1 });
    await bed.served((await bed.revision(deployment, 2)).id, served);
    await bed.drive(id);
    await bed.age(id, 121);
    return { deployment, id };
  }

  it.each(['canary', 'blue_green'] as const)('judge a %s without a gate', async (type) => {
    const { deployment, id } = await ungated(refused, type);
    const record = await bed.finish(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'analysis_failed',
      result: { gate: { source: 'default' }, analysis: { 'analyze:1': { verdict: 'breached' } } },
    });
    expect(record['message']).toBe(
      'breached: client_error_rate 60 % (100 requests, no requests of the stable revision, limit 5 points more)',
    );
    expect(names(record['result'].gate.guards)).toEqual(['error_rate', ...ADDED]);
    expect(routed(deployment)).toEqual([[first(deployment), 100]]);
    expect(await bed.finish((await ungated({ ok: 100 }, type)).id)).toMatchObject({ status: 'succeeded' });
  });

  it('pause a candidate without requests, with the commands to type', async () => {
    const { deployment, id } = await ungated({ ok: 0 });
    expect(await bed.finish(id)).toMatchObject({
      status: 'waiting',
      message: `unavailable: nothing was judged, because no request reached ${second(deployment)} during the soak. Continue without a verdict with \`slipway rollouts promote ${deployment.name}\`, or stop with \`slipway rollouts abort ${deployment.name}\``,
    });
    await bed.resume(id);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
  });

  it('judge a recreate by its requests, and do not pause one without requests', async () => {
    const deployment = await bed.serving();
    const steps = [{ traffic_percent: 100, soak_seconds: 0, requires_approval: false, pause: false }];
    const strategy = { type: 'recreate' as const, steps };
    const id = await bed.rollout(deployment, { spec: spec('next'), strategy, analysis: undefined });
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded', result: { gate: { source: 'default' } } });
  });

  it('judge next to the metrics of a gate', async () => {
    const { deployment, id } = await begin(refused, gated, [50, 100]);
    expect(await bed.finish(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
    const [judged] = await bed.events(deployment, 'rollout.analysis_completed');
    expect(judged).toMatchObject({ metrics: [{ metric: 'error_rate', verdict: 'pass' }] });
    expect(names(judged.guards)).toEqual(ADDED);
  });

  it('compare with the stable revision at the same time, else with its last requests', async () => {
    const like = { ok: 950, more: { client_error: 50 } };
    const { deployment, id } = await begin({ ok: 94, more: { client_error: 6 } }, gated);
    await bed.served((await bed.revision(deployment, 1)).id, like);
    expect(await bed.finish(id)).toMatchObject({ status: 'succeeded' });
    const { guards } = (await bed.events(deployment, 'rollout.analysis_completed'))[0];
    expect(guards[0]).toMatchObject({ basis: 'same_time', baseline: { value: 0.05, samples: 1_000 } });

    const later = await begin({ ok: 94, more: { client_error: 6 } }, gated);
    await bed.served((await bed.revision(later.deployment, 1)).id, { ...like, secondsAgo: 7_200 });
    expect(await bed.finish(later.id)).toMatchObject({ status: 'succeeded' });
    const [judged] = await bed.events(later.deployment, 'rollout.analysis_completed');
    expect(judged.guards[0]).toMatchObject({ basis: 'earlier', baseline: { value: 0.05 } });
  });

  it('pause if one caller causes the difference, even if every failure rolls back', async () => {
    const one = {
      ok: 40,
      more: { client_error: 60, callers: { 3: [60, 0, 60, 0, 0], 4: [40, 0, 0, 0, 0] } as Callers },
    };
    const { id } = await begin(one, gated, [50, 100]);
    const record = await bed.finish(id);
    expect(record).toMatchObject({ status: 'waiting', current_step: 'analyze:1' });
    expect(record['message']).toMatch(/^inconclusive: client_error_rate .*: too few callers cause the difference$/);
  });

  it('roll nothing back if the stable revision has neither requests nor a ready instance', async () => {
    const { deployment, id } = await begin(refused, gated);
    bed.neighbours.statuses.set((await bed.revision(deployment, 1)).id, { ready: 0 });
    expect(await bed.finish(id)).toMatchObject({
      status: 'waiting',
      message: expect.stringMatching(/^unavailable: client_error_rate /),
    });
  });
});
