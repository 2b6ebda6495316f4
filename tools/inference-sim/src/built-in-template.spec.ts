import { afterEach, expect, it } from '@jest/globals';
import { BUILT_IN_SETTINGS } from '@slipway/platform-config';
import { DEFAULT_OPTIONS, FLAGS, parseFlags } from './flags.js';
import { startSimulator, type Simulator } from './simulator.js';

const { args, metrics } = BUILT_IN_SETTINGS.targets.flatMap(({ engines }) => (engines ? [engines.sim] : []))[0]!;

let simulator: Simulator | undefined;
afterEach(() => simulator?.stop());

it('the arguments of the engine `sim` are flags, with the names of the flags', () => {
  for (const [name, { arg, reason }] of Object.entries(args)) {
    expect(reason).toBeTruthy();
    expect(arg).toBe(`--${name.replaceAll('_', '-')}={}`);
    expect(Object.keys(FLAGS)).toContain(name.replaceAll('_', '-'));
  }
  const values = {
    max_num_seqs: 4,
    max_num_batched_tokens: 8,
    step_ms: 1.5,
    token_us: 2,
    kv_token_us: 3,
    kv_tokens: 99,
  };
  const argv = Object.entries(values).map(([name, value]) =>
    args[name as keyof typeof values].arg.replace('{}', `${value}`),
  );
  expect(parseFlags(argv).options).toEqual({
    ...DEFAULT_OPTIONS,
    ...{ maxNumSeqs: 4, maxNumBatchedTokens: 8, stepMs: 1.5, tokenUs: 2, kvTokenUs: 3, kvTokens: 99 },
  });
});

it('the metrics that Slipway reads from the engine `sim` are reported', async () => {
  simulator = await startSimulator({ port: 0, stepMs: 1, kvTokens: 100 });
  const { path, ...names } = metrics;
  const lines = (await (await fetch(`${simulator.url}${path}`)).text()).split('\n');
  expect(lines).toEqual(expect.arrayContaining(Object.values(names).map((name) => `${name} 0`)));
});
