import { expect, it } from '@jest/globals';
import { effectiveScaling } from './revision-spec.js';

it('a deployment overrides a revision field by field, and other fields have defaults', () => {
  expect(effectiveScaling({ min_replicas: 1 })).toEqual({
    min_replicas: 1,
    max_replicas: 1,
    target_in_flight: null,
    scale_down_after_seconds: 300,
    idle_seconds: null,
  });
  const revision = { min_replicas: 1, max_replicas: 4, target_in_flight: 8 };
  expect(effectiveScaling(revision, { min_replicas: 0, scale_down_after_seconds: 60 })).toEqual({
    min_replicas: 0,
    max_replicas: 4,
    target_in_flight: 8,
    scale_down_after_seconds: 60,
    idle_seconds: 600,
  });
  expect(effectiveScaling({ ...revision, min_replicas: 0, idle_seconds: 30 }, null).idle_seconds).toBe(30);
});

it('if deployment and revision contradict each other, the smallest number holds, and an awake one has no idle time', () => {
  const asleep = { min_replicas: 0, max_replicas: 2, idle_seconds: 30 };
  expect(effectiveScaling(asleep, { min_replicas: 3 })).toMatchObject({
    min_replicas: 3,
    max_replicas: 3,
    idle_seconds: null,
  });
});
