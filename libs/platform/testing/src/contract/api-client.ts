import { randomUUID } from 'node:crypto';
import type { Owner } from '@slipway/contracts';
import type { TestDatabase } from '@slipway/platform-database/testing';

/** A client of an API, wherever that runs, and the database of that API. */
export interface ApiClient {
  database: TestDatabase;
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  /** Creates a second tenant with its own admin token. @param organizations of the hosted provider that it may map */
  createTenant(name: string, organizations?: string[]): Promise<{ id: string; name: string; token: string }>;
  /** Creates a token with the token of a tenant's admin, by default the operator's. */
  createToken(scope: 'viewer' | 'operator' | 'admin', admin?: string, owner?: Owner): Promise<string>;
  /** Creates a token for a person with the scope `operator`. */
  createPerson(name: string): Promise<string>;
}

export interface SendOptions {
  body?: unknown;
  /** The bootstrap token by default; null sends none. */
  token?: string | null;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: any;
  text: string;
}

/** @param token the bootstrap token, which requests carry by default */
export function clientOf(url: () => string, database: TestDatabase, token: string): ApiClient {
  const send = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
    exchange(url(), method, path, { ...options, token: options.token === undefined ? token : options.token });
  async function createToken(scope: string, admin?: string, owner?: Owner): Promise<string> {
    const answer = await send('POST', '/api/v1/tokens', {
      body: { name: `${scope} ${randomUUID()}`, scopes: [scope], owner },
      ...(admin && { token: admin }),
    });
    return expectStatus(answer, 201).token;
  }
  return {
    database,
    send,
    async createTenant(name, organizations = []) {
      const body = { name, external_organization_ids: organizations };
      return expectStatus(await send('POST', '/api/v1/tenants', { body }), 201);
    },
    createToken,
    createPerson: (name) => createToken('operator', undefined, { type: 'person', id: name }),
  };
}

export function expectStatus(answer: Answer, status: number): any {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}

async function exchange(
  url: string,
  method: string,
  path: string,
  { body, token, headers }: SendOptions,
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    redirect: 'manual',
    body:
      body === undefined
        ? undefined
        : typeof body === 'string' || body instanceof Uint8Array
          ? body
          : JSON.stringify(body),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}
