import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { engineWith, readTarget, specOf } from '../../test/target-fixture.js';
import { probesOf } from './unit-probes.js';

describe('probes', () => {
  const probes = (change: Parameters<typeof specOf>[0], keys: Record<string, unknown> = {}) => {
    const of = readTarget(engineWith({ ready: { path: '/up', timeout_seconds: 100 }, ...keys }));
    return probesOf(
      specOf({ runtime: { engine: 'e', args: {}, env: {} }, resources: {}, ...change }),
      of.engines['e']!,
    );
  };
  const get = (path: string) => ({ path, port: 'http' });

  it('begin with a startup probe that lasts as long as a start may take', () => {
    const probe = { intervalSeconds: 3, timeoutSeconds: 2, failureThreshold: 5 };
    expect(probes({ probe })).toMatchObject({
      startupProbe: { httpGet: get('/up'), periodSeconds: 3, timeoutSeconds: 2, failureThreshold: 34 },
      readinessProbe: { httpGet: get('/up'), periodSeconds: 3, timeoutSeconds: 2, failureThreshold: 5 },
      livenessProbe: { httpGet: get('/up'), periodSeconds: 3, timeoutSeconds: 2, failureThreshold: 20 },
    });
    expect(probes({ probe, readyTimeoutSeconds: 9 })).toMatchObject({ startupProbe: { failureThreshold: 3 } });
  });

  it('never wait before they begin', () => {
    expect(JSON.stringify(probes({}))).not.toContain('initialDelaySeconds');
  });

  it('use the engine’s pace, except for values that the revision itself sets', () => {
    const live = { path: '/live', interval_seconds: 5, timeout_seconds: 4, failure_threshold: 6 };
    expect(probes({}, { live })).toMatchObject({
      startupProbe: { httpGet: get('/up'), periodSeconds: 1 },
      readinessProbe: { httpGet: get('/live'), periodSeconds: 5, timeoutSeconds: 4, failureThreshold: 6 },
    });
    const probe = {
      path: '/own',
      intervalSeconds: 9,
      timeoutSeconds: 8,
      failureThreshold: 7,
      set: ['intervalSeconds' as const],
    };
    expect(probes({ probe }, { live })).toMatchObject({
      startupProbe: { httpGet: get('/own'), periodSeconds: 9 },
      readinessProbe: { httpGet: get('/own'), periodSeconds: 9, timeoutSeconds: 4, failureThreshold: 6 },
    });
  });

  it('have whole numbers from 1 on, for any spec', () => {
    const times = fc.double({ min: 0.001, max: 100_000, noNaN: true });
    fc.assert(
      fc.property(times, times, times, fc.integer({ min: 1, max: 86_400 }), (interval, timeout, threshold, ready) => {
        const probe = { intervalSeconds: interval, timeoutSeconds: timeout, failureThreshold: threshold };
        const made = probes({ probe, readyTimeoutSeconds: ready });
        for (const { periodSeconds, timeoutSeconds, failureThreshold } of Object.values(made))
          for (const number of [periodSeconds, timeoutSeconds, failureThreshold]) {
            expect(Number.isInteger(number)).toBe(true);
            expect(number).toBeGreaterThanOrEqual(1);
          }
        const { periodSeconds, failureThreshold } = made.startupProbe;
        expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(ready);
      }),
    );
  });
});
