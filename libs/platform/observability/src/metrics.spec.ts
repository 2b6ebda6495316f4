import { expect, it } from '@jest/globals';
import { readGauges, renderMetrics } from './metrics.js';

const GAUGES = { slipway_read_total_things: ['Things'], slipway_read_things: ['Things by colour', 'colour'] } as const;

const shown = async (): Promise<string[]> =>
  (await renderMetrics()).body.split('\n').filter((line) => /^slipway_(?:read|metrics)/.test(line));

it('reads the gauges of a group once for each scrape, and shows no value of a read that fails', async () => {
  let reads = 0;
  let colours = ['red', 'blue'];
  readGauges('things', GAUGES, async () => {
    reads += 1;
    return {
      slipway_read_total_things: colours.length,
      slipway_read_things: colours.map((colour) => ({ labels: { colour }, value: 1 })),
    };
  });
  const without = 'slipway_metrics_read_failures_total{group="things"} 0';
  expect((await shown()).sort()).toEqual(
    [
      without,
      'slipway_read_total_things 2',
      'slipway_read_things{colour="red"} 1',
      'slipway_read_things{colour="blue"} 1',
    ].sort(),
  );
  expect(reads).toBe(1);
  colours = ['blue'];
  expect(await shown()).not.toContain('slipway_read_things{colour="red"} 1');
  expect(reads).toBe(2);

  // An app that starts later in the same process replaces the read.
  readGauges('things', GAUGES, () => Promise.reject(new Error('Postgres is away')));
  await shown();
  expect(await shown()).toEqual([expect.stringMatching(/^slipway_metrics_read_failures_total{group="things"} [12]$/)]);
});
