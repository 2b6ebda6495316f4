import { isSlipwayError, type AnswerOf } from '@slipway/sdk';
import { queryOptions } from '@tanstack/react-query';
import { slipway } from './client.js';

export type Policy = AnswerOf<'getContinualOptimizationPolicy'>;

/** An event reports each change; this interval is for times when the stream is away. */
const RENEWED_MS = 60_000;

/** A missing resource is a normal result, not a failure. */
export async function orNull<T>(code: string, asked: PromiseLike<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isSlipwayError(error, code)) return null;
    throw error;
  }
}

/**
 * The policy of a deployment; null if it has none. Only a policy that exists is requested: the browser reports each 404
 * as an error of the page.
 */
export const policyQuery = (deployment: string) =>
  queryOptions({
    queryKey: ['policy', deployment],
    queryFn: async ({ client, queryKey, signal }): Promise<Policy | null> => {
      const { policy } = slipway.deployments;
      const isKnown = client.getQueryData<Policy | null>(queryKey) != null;
      if (!isKnown && (await policy.versions(deployment, { limit: 1, signal })).data.length === 0) return null;
      return orNull('policy_not_found', policy.get(deployment, { signal }));
    },
    refetchInterval: RENEWED_MS,
  });
