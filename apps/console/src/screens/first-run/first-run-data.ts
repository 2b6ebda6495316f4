import { isSlipwayError, type Operation } from '@slipway/sdk';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import type { Deployment } from '../../api/items.js';
import { createBody, firstNames } from './first-run-commands.js';
import { stageOf } from './first-run-state.js';

/** Steps take seconds here, and a person is watching. */
const LIVE_MS = 1_000;

export interface FirstRun {
  /** Null if there is none yet. */
  deployment: Deployment | null;
  /** The last operation on it. */
  operation: Operation | undefined;
}

/** The deployment of this page: the one in the address, or else the one that an earlier visit made. */
export const useFirstRun = (named: string | undefined): UseQueryResult<FirstRun, Error> =>
  useQuery({
    queryKey: ['deployments', 'first-run', named],
    queryFn: async ({ signal }): Promise<FirstRun> => {
      const deployment = named ? await one(named, signal) : await earlier(signal);
      if (!deployment) return { deployment, operation: undefined };
      const { data } = await slipway.operations.list({ resource_name: deployment.name, limit: 1, signal });
      return { deployment, operation: data[0] };
    },
    refetchInterval: ({ state: { data } }) =>
      data && stageOf(data.deployment, data.operation) === 'rolling_out' ? LIVE_MS : false,
  });

async function one(name: string, signal: AbortSignal): Promise<Deployment | null> {
  try {
    return await slipway.deployments.get(name, { signal });
  } catch (error) {
    if (isSlipwayError(error, 'deployment_not_found')) return null;
    throw error;
  }
}

async function earlier(signal: AbortSignal): Promise<Deployment | null> {
  const { data } = await slipway.deployments.list({ label: 'first-run=yes', limit: 1, signal });
  return data.find(({ state }) => state !== 'deleting') ?? null;
}

/** Creates the deployment under the first free name. */
export async function createFirst(): Promise<{ name: string }> {
  let taken: unknown;
  for (const name of firstNames()) {
    try {
      return await slipway.deployments.create(createBody(name));
    } catch (error) {
      if (!isSlipwayError(error, 'deployment_exists')) throw error;
      taken = error;
    }
  }
  throw taken;
}

/** The first target that has the built-in simulator; undefined if there is none. */
export const useSimulatorTarget = (): UseQueryResult<string | null, Error> =>
  useQuery({
    queryKey: ['targets', 'simulator'],
    queryFn: async ({ signal }) => {
      const { data } = await slipway.targets.list({ limit: 200, signal });
      const found = data.find(({ engines, removed }) => !removed && engines.some(({ name }) => name === 'sim'));
      return found?.name ?? null;
    },
  });
