import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HistogramRecorder, type Callers, type Histogram, type StatsWindow } from '@slipway/dataplane';
import type { AnalysisDto, AnalysisMetricDto, Deployment } from '@slipway/ports/deployment-records';
import { RolloutsBed, spec } from '../../test/rollouts-bed.js';

let bed: RolloutsBed;

beforeAll(async () => {
  bed = await RolloutsBed.start();
  await bed.gatewayUntil(new Date(Date.now() + 3_600_000));
}, 60_000);
afterAll(() => bed?.stop());

const SOAK_SECONDS = 180;
const steps = (...percents: number[]) =>
  percents.map((traffic_percent) => ({
    traffic_percent,
    soak_seconds: SOAK_SECONDS,
    requires_approval: false,
    pause: false,
  }));

interface Second {
  ok?: number;
  failed?: number;
  more?: Partial<StatsWindow>;
}

/**
 * Starts a canary, lets its first soak have run for some seconds in which the gateways recorded this every second, and
 * lets the soak look.
 */
async function after(
  seconds: number,
  served: { candidate: Second; stable: Second },
  { analysis, percents = [50, 100] }: { analysis?: AnalysisDto; percents?: number[] } = {},
) {
  const deployment = await bed.serving();
  const id = await bed.rollout(deployment, {
    spec: spec('next'),
    strategy: { type: 'canary', steps: steps(...percents) },
    analysis,
  });
  expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:1' });
  const [stable, candidate] = [await bed.revision(deployment, 1), await bed.revision(deployment, 2)];
  for (let second = 0; second < seconds; second += 1) {
    await bed.served(candidate.id, { ...served.candidate, secondsAgo: second + 4 });
    await bed.served(stable.id, { ...served.stable, secondsAgo: second + 4 });
  }
  await bed.soakingFor(id, seconds + 3);
  return { deployment, id };
}

const look = (id: string) => bed.finish(id);
const weightOf = ({ id, name }: Deployment) =>
  bed.targets({ id, name } as Deployment)?.find(([revision]) => revision === `${name}-00002`)?.[1] ?? 0;
const soakOf = (record: any) => record['steps'].find(({ name }: any) => name === 'soak:1');
/** Twenty callers with as many requests each. */
const callers = (requests: number, failed: number): Callers =>
  Object.fromEntries(
    Array.from({ length: 20 }, (_, bucket) => [bucket, [requests / 20, failed / 20, 0, 0, 0]]),
  ) as unknown as Callers;
const slow = (value: number, samples: number): Histogram => {
  const recorder = new HistogramRecorder();
  for (let index = 0; index < samples; index += 1) recorder.record(value * (0.9 + (0.2 * index) / samples));
  return recorder.snapshot();
};

describe('a soak stops at once', () => {
  it.each([
    ['all requests fail at 20 %', 6, { failed: 4 }, { ok: 16 }],
    ['all requests fail at 5 %', 15, { failed: 1 }, { ok: 19 }],
    ['one of ten fails at 50 %', 40, { ok: 9, failed: 1 }, { ok: 10 }],
  ])('without a gate, if %s', async (_name, seconds, candidate, stable) => {
    const { deployment, id } = await after(seconds, { candidate, stable });
    const record = await look(id);
    expect(record).toMatchObject({
      status: 'failed',
      error_code: 'analysis_failed',
      message: expect.stringMatching(/^breached: error_rate /),
      result: { outcome: 'reverted', analysis: { 'soak:1': { verdict: 'breached' } } },
    });
    expect(soakOf(record)).toMatchObject({ status: 'failed', evidence: { verdict: 'breached' } });
    expect(weightOf(deployment)).toBe(0);
    expect(bed.neighbours.abandoned).toContain((await bed.revision(deployment, 2)).id);
    expect(await bed.events(deployment, 'rollout.analysis_completed')).toMatchObject([
      { step: 'soak:1', verdict: 'breached' },
    ]);
  });

  it('if a threshold of its gate is certainly broken, long before min_samples', async () => {
    const analysis = gate({ name: 'error_rate', check: 'threshold', threshold: 0.02, min_samples: 10_000 });
    const { id } = await after(8, { candidate: { ok: 1, failed: 1 }, stable: { ok: 2 } }, { analysis });
    expect(await look(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
  });

  it('if latencies are worse beyond doubt at a planned look', async () => {
    const analysis = gate({ name: 'e2e_latency_ms', stat: 'p95', check: 'regression', max_regression_percent: 20 });
    const latency = (value: number) => ({ ok: 10, more: { e2e_latency_ms: slow(value, 10) } });
    const { id } = await after(30, { candidate: latency(200), stable: latency(100) }, { analysis });
    expect(await look(id)).toMatchObject({ status: 'failed', message: expect.stringContaining('e2e_latency_ms p95') });
  });

  it('and waits for a person if the gate says so, who can pass it', async () => {
    const analysis = {
      ...gate({ name: 'error_rate', check: 'threshold', threshold: 0.02 }),
      on_failure: 'pause',
    } as const;
    const { deployment, id } = await after(10, { candidate: { failed: 5 }, stable: { ok: 5 } }, { analysis });
    expect(await look(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1', waiting_for: 'decision' });
    await bed.promote(id);
    const record = await bed.drive(id);
    expect(record).toMatchObject({ current_step: 'soak:2' });
    expect(soakOf(record).message).toBe('breached; passed by a person');
    expect(record['steps'].find(({ name }: any) => name === 'analyze:1')).toMatchObject({ status: 'skipped' });
    expect(weightOf(deployment)).toBe(100);
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('while it is paused', async () => {
    const { deployment, id } = await after(10, { candidate: { failed: 5 }, stable: { ok: 5 } });
    await bed.pause(id);
    expect(await look(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
    expect(weightOf(deployment)).toBe(0);
  });

  it('if a revision that served well before gets all traffic and fails', async () => {
    const deployment = await bed.serving();
    const stable = await bed.revision(deployment, 1);
    for (let second = 0; second < 60; second += 1) await bed.served(stable.id, { ok: 20, secondsAgo: second + 30 });
    const id = await bed.rollout(deployment, {
      spec: spec('next'),
      strategy: { type: 'blue_green', steps: steps(100) },
      analysis: undefined,
    });
    expect(await bed.drive(id)).toMatchObject({ current_step: 'soak:1' });
    const candidate = await bed.revision(deployment, 2);
    for (let second = 0; second < 10; second += 1)
      await bed.served(candidate.id, { ok: 10, failed: 10, secondsAgo: second + 4 });
    await bed.soakingFor(id, 13);
    expect(await look(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
  });
});

describe('a soak continues', () => {
  it.each([
    ['both revisions fail alike', { ok: 19, failed: 1 }, { ok: 19, failed: 1 }],
    ['the difference is below the limit of the guard', { ok: 98, failed: 2 }, { ok: 100 }],
    ['the candidate is better', { ok: 20 }, { ok: 10, failed: 10 }],
  ])('if %s', async (_name, candidate, stable) => {
    const { id } = await after(60, { candidate, stable });
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1', waiting_for: 'soak' });
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('if the failures are those of one caller', async () => {
    const one = { 3: [5, 5, 0, 0, 0] } as unknown as Callers;
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [n + 10, [1, 0, 0, 0, 0]]));
    const candidate = { ok: 15, failed: 5, more: { callers: { ...one, ...many } as Callers } };
    const { id } = await after(40, { candidate, stable: { ok: 20, more: { callers: callers(20, 0) } } });
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', current_step: 'soak:1' });
    await bed.cancel(id);
    await bed.finish(id);
  });

  it('and says that it waits for traffic if the candidate gets none', async () => {
    const { id } = await after(30, { candidate: {}, stable: { ok: 10 } });
    expect(await bed.wake(id)).toMatchObject({ status: 'waiting', waiting_for: 'traffic' });
    await bed.cancel(id);
    await bed.finish(id);
  });
});

it('shows the received share if sessions keep it from the configured one', async () => {
  const one = { 7: [10, 0, 0, 0, 0] } as unknown as Callers;
  const { id } = await after(
    SOAK_SECONDS,
    { candidate: { ok: 10, more: { callers: one } }, stable: {} },
    { percents: [10, 100], analysis: undefined },
  );
  const record = await bed.wake(id);
  expect(soakOf(record)).toMatchObject({
    status: 'succeeded',
    evidence: { share: { configured_percent: 10, received_percent: 100, sessions: 1 } },
    message: expect.stringContaining('received 100 % of the requests instead of 10 %'),
  });
  await bed.cancel(id);
  await bed.finish(id);
});

function gate(metric: Partial<AnalysisMetricDto>): AnalysisDto {
  const whole = { min_samples: 50, failure_limit: 0, dry_run: false, ...metric } as AnalysisMetricDto;
  return { metrics: [whole], on_failure: 'rollback', on_inconclusive: 'pause' };
}
