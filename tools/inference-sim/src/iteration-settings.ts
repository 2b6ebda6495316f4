/** Constants of a simulated engine that computes requests in batches, one iteration after another. */
export interface IterationSettings {
  /** The most sequences in the batch; others wait in order. */
  maxNumSeqs: number;
  /** The most tokens that one iteration computes: chunks of prompts, and one token of each sequence after its prompt. */
  maxNumBatchedTokens: number;
  /** Fixed time of one iteration. */
  stepMs: number;
  /** Time per token that an iteration computes. */
  tokenUs: number;
  /** Time per token of context: those that the sequences of an iteration have in the KV cache when it begins. */
  kvTokenUs: number;
  /** Tokens that the KV cache holds; Infinity never fills. */
  kvTokens: number;
  /** Each iteration takes up to this share more or less than the constants say. */
  jitter: number;
  /** An iteration with one of the first requests since the start is slow, as if kernels were compiled. */
  slowRequests: number;
  /** How many times as long a slow iteration takes. */
  slowTimes: number;
  /** The same seed gives the same jitter. */
  seed: number;
}

/** The settings that flags set. The others are properties of the simulator that no model of it should know. */
export type IterationOptions = Partial<
  Pick<IterationSettings, 'maxNumSeqs' | 'maxNumBatchedTokens' | 'stepMs' | 'tokenUs' | 'kvTokenUs' | 'kvTokens'>
>;

export const DEFAULT_ITERATION: Omit<IterationSettings, 'seed'> = {
  maxNumSeqs: 256,
  maxNumBatchedTokens: 2048,
  stepMs: 0,
  tokenUs: 0,
  kvTokenUs: 0,
  kvTokens: Infinity,
  jitter: 0.05,
  slowRequests: 5,
  slowTimes: 3,
};

/** Returns undefined if none of the options is set: the simulator then answers by the pace of its other options. */
export function iterationSettings(options: IterationOptions, seed: number): IterationSettings | undefined {
  const { maxNumSeqs, maxNumBatchedTokens, stepMs, tokenUs, kvTokenUs, kvTokens } = options;
  const given = Object.entries({ maxNumSeqs, maxNumBatchedTokens, stepMs, tokenUs, kvTokenUs, kvTokens }).filter(
    ([, value]) => value !== undefined,
  );
  return given.length === 0 ? undefined : { ...DEFAULT_ITERATION, ...Object.fromEntries(given), seed };
}

/** Returns the first rule that the settings break, in the words of the flags. */
export function iterationProblem(settings: IterationSettings): string | undefined {
  const { maxNumSeqs, maxNumBatchedTokens, stepMs, tokenUs, kvTokenUs, kvTokens } = settings;
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1;
  if (!isCount(maxNumSeqs)) return `max-num-seqs must be a whole number from 1, not ${maxNumSeqs}`;
  if (!isCount(maxNumBatchedTokens))
    return `max-num-batched-tokens must be a whole number from 1, not ${maxNumBatchedTokens}`;
  // Otherwise the last sequences of a full batch would wait for as long as the first ones generate.
  if (maxNumBatchedTokens < maxNumSeqs)
    return `max-num-batched-tokens must be at least max-num-seqs (${maxNumSeqs}), not ${maxNumBatchedTokens}`;
  if (kvTokens !== Infinity && !isCount(kvTokens)) return `kv-tokens must be a whole number from 1, not ${kvTokens}`;
  const times = { 'step-ms': stepMs, 'token-us': tokenUs, 'kv-token-us': kvTokenUs };
  for (const [name, value] of Object.entries(times))
    if (!(value >= 0 && value < Infinity)) return `${name} must be a number from 0, not ${value}`;
  const { jitter, slowRequests, slowTimes } = settings;
  if (!(jitter >= 0 && jitter < 1)) return `jitter must be at least 0 and below 1, not ${jitter}`;
  if (!(slowRequests >= 0 && slowTimes > 0 && slowTimes < Infinity))
    return `slow requests must be a number from 0, and their factor above 0, not ${slowRequests} and ${slowTimes}`;
  return undefined;
}
