import type { IncomingHttpHeaders } from 'node:http';
import type { SessionSource } from '@slipway/dataplane';

export interface Session {
  key: string;
  source: SessionSource;
}

/** What tells a session apart, most explicit first. Undefined for a request that belongs to none. */
export function sessionOf(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>): Session | undefined {
  const header = headers['x-session-id'];
  if (typeof header === 'string' && header !== '') return { key: header, source: 'x-session-id' };
  for (const source of ['session_id', 'prompt_cache_key', 'user'] as const) {
    const value = body[source];
    if (typeof value === 'string' && value !== '') return { key: value, source };
  }
  return undefined;
}
