import type { AnswerOf } from '@slipway/sdk';
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { slipway } from '../../api/client.js';
import { orNull, policyQuery } from '../../api/policy.js';
import { keyOf } from './renewal.js';

export type Route = AnswerOf<'getRoute'>;
export type Diagnosis = AnswerOf<'getAutopilotDiagnosis'>;

/** Events report most changes; this interval is for data without events, and for times when the stream is away. */
const BEHIND_EVENTS_MS = 15_000;
const INSTANCES_MS = 5_000;
const DRAINING_MS = 3_000;
/** Records are merged once a minute. */
const DIAGNOSED_MS = 60_000;

const deploymentQuery = (name: string) =>
  queryOptions({
    queryKey: keyOf('deployment', name),
    queryFn: ({ signal }) => slipway.deployments.get(name, { signal }),
  });

export const useDeployment = (name: string) =>
  useQuery({
    ...deploymentQuery(name),
    // The end of a request that a drain waits for is no event.
    refetchInterval: ({ state }) => (state.data?.draining ? DRAINING_MS : BEHIND_EVENTS_MS),
  });

export const useRoute = (name: string) =>
  useQuery({
    queryKey: keyOf('route', name),
    // The deployment shows whether there is one: the browser reports each 404 as an error of the page.
    queryFn: async ({ client, queryKey, signal }): Promise<Route | null> => {
      const isKnown = client.getQueryData<Route | null>(queryKey) != null;
      if (!isKnown && (await client.fetchQuery(deploymentQuery(name))).route === null) return null;
      return orNull('route_not_found', slipway.deployments.route.get(name, { signal }));
    },
    refetchInterval: BEHIND_EVENTS_MS,
  });

/** The newest few operations with their steps; the running one is among them. */
export const useOperations = (name: string) =>
  useQuery({
    queryKey: keyOf('operations', name),
    queryFn: async ({ signal }) => {
      const { data } = await slipway.operations.list({ resource_name: name, limit: 10, signal });
      return data.filter(({ resource_type }) => resource_type === 'deployment');
    },
    refetchInterval: BEHIND_EVENTS_MS,
  });

export const useRevisions = (name: string) =>
  useInfiniteQuery({
    queryKey: keyOf('revisions', name),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      slipway.deployments.revisions.list(name, { limit: 100, cursor: pageParam, signal }).then((page) => page),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    maxPages: 5,
    refetchInterval: BEHIND_EVENTS_MS * 2,
  });

export const useInstances = (name: string) =>
  useQuery({
    queryKey: keyOf('instances', name),
    queryFn: async ({ signal }) => (await slipway.deployments.instances.list(name, { limit: 200, signal })).data,
    refetchInterval: INSTANCES_MS,
  });

export const usePolicy = (name: string) => useQuery(policyQuery(name));

/** The diagnosis and the last decision of the autopilot; null without a policy. The api computes it for each request. */
export const useDiagnosis = (name: string) =>
  useQuery({
    queryKey: keyOf('diagnosis', name),
    queryFn: async ({ client, signal }): Promise<Diagnosis | null> => {
      if (!(await client.fetchQuery(policyQuery(name)))) return null;
      return orNull('policy_not_found', slipway.autopilot.diagnosis.get(name, { signal }));
    },
    refetchInterval: DIAGNOSED_MS,
    staleTime: DIAGNOSED_MS / 2,
  });

export const usePlans = (name: string) =>
  useQuery({
    queryKey: keyOf('plans', name),
    queryFn: async ({ signal }) => (await slipway.autopilot.plans.list({ deployment: name, limit: 20, signal })).data,
    refetchInterval: BEHIND_EVENTS_MS * 4,
  });

export const useTargets = (isEnabled: boolean) =>
  useQuery({
    queryKey: ['targets', 'rows'],
    queryFn: async ({ signal }) => (await slipway.targets.list({ signal })).data,
    enabled: isEnabled,
  });

/** The newest verdict here: a step stores its own only at its end, not while it waits for a person. */
export const useAnalysis = (name: string) =>
  useQuery({
    queryKey: keyOf('analysis', name),
    queryFn: async ({ signal }) => {
      const asked = { type: 'rollout.analysis_completed', order: 'desc', limit: 1, signal } as const;
      return (await slipway.deployments.events.list(name, asked)).data[0] ?? null;
    },
    refetchInterval: BEHIND_EVENTS_MS * 4,
  });
