import type { EngineOption } from './options.js';

/** The metrics that profiles have SLOs for. */
export type ProfileMetric = 'ttft_ms' | 'itl_ms';

/** Constants of one engine and its requests, and the metric of its SLO. */
export interface Profile {
  name: string;
  metric: ProfileMetric;
  constants: Record<EngineOption, number>;
}

/**
 * One profile for each reason for which load makes requests slow. `queueing`: few slots, so requests wait for one.
 * `prefill`: long prompts, which are computed one after another. `token-time`: long contexts, so that every token takes
 * longer the more requests the engine works on.
 */
const PROFILES: readonly Profile[] = [
  {
    name: 'queueing',
    metric: 'ttft_ms',
    constants: {
      'max-num-seqs': 8,
      'max-num-batched-tokens': 2_048,
      'step-ms': 50,
      'token-us': 20,
      'kv-token-us': 0.2,
      'kv-tokens': 16_000,
      'input-tokens': 300,
      'output-tokens': 40,
      'input-sigma': 0.5,
      'output-sigma': 0.5,
    },
  },
  {
    name: 'prefill',
    metric: 'ttft_ms',
    constants: {
      'max-num-seqs': 64,
      'max-num-batched-tokens': 2_048,
      'step-ms': 40,
      'token-us': 100,
      'kv-token-us': 0.1,
      'kv-tokens': 400_000,
      'input-tokens': 3_000,
      'output-tokens': 20,
      'input-sigma': 0.5,
      'output-sigma': 0.5,
    },
  },
  {
    name: 'token-time',
    metric: 'itl_ms',
    constants: {
      'max-num-seqs': 64,
      'max-num-batched-tokens': 2_048,
      'step-ms': 40,
      'token-us': 50,
      'kv-token-us': 4,
      'kv-tokens': 120_000,
      'input-tokens': 600,
      'output-tokens': 40,
      'input-sigma': 0.5,
      'output-sigma': 0.5,
    },
  },
];

export const PROFILE_NAMES = PROFILES.map(({ name }) => name);

/** Returns the profiles with these names. @param overrides replace the constants of each */
export function profilesOf(names: readonly string[], overrides: Partial<Record<EngineOption, number>>): Profile[] {
  return PROFILES.filter(({ name }) => names.includes(name)).map((profile) => ({
    ...profile,
    constants: { ...profile.constants, ...overrides },
  }));
}
