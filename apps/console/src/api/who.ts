import type { AnswerOf } from '@slipway/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { readSession, slipway } from './client.js';

export type Identity = AnswerOf<'whoAmI'>;
export type Scope = 'viewer' | 'operator' | 'admin';

const RANK: Record<string, number> = { viewer: 1, operator: 2, admin: 3 };

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 30_000,
});

export const whoQuery = queryOptions({
  queryKey: ['who'],
  queryFn: ({ signal }) => slipway.whoAmI({ signal }),
  staleTime: 60_000,
});

/** Whether a person with these scopes may do what needs `needed`: higher scopes include lower ones. */
export function mayWith(scopes: readonly string[], needed: Scope): boolean {
  return scopes.some((scope) => (RANK[scope] ?? 0) >= RANK[needed]!);
}

/** Controls that are not allowed are not offered; the api itself enforces that. */
export function useMay(needed: Scope): boolean {
  const { data } = useQuery(whoQuery);
  return data !== undefined && mayWith(data.scopes, needed);
}
