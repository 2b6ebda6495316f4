import { Agent, request } from 'undici';
import type { Gateway } from '../src/index.js';
import type { TestToken } from './installation.js';

export interface TestAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

export interface TestRequest {
  path?: string;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** `request` takes a fifth of the processor time of `fetch`, and these tests send thousands of requests. */
const dispatcher = new Agent();

/** Sends one request to a gateway, by default a chat completion. Strings are sent unchanged. */
export async function ask(
  gateway: Gateway | number,
  token: TestToken | string | null,
  { path = '/v1/chat/completions', method = 'POST', body = {}, headers = {}, signal }: TestRequest = {},
): Promise<TestAnswer> {
  const port = typeof gateway === 'number' ? gateway : gateway.port;
  const authorization: Record<string, string> =
    token === null ? {} : { authorization: `Bearer ${typeof token === 'string' ? token : token.text}` };
  const sent = method === 'GET' || method === 'HEAD' ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await request(`http://127.0.0.1:${port}${path}`, {
    dispatcher,
    method: method as 'POST',
    headers: { 'content-type': 'application/json', ...authorization, ...headers },
    body: sent,
    signal: signal ?? null,
  });
  const text = await response.body.text();
  return { status: response.statusCode, headers: headersOf(response.headers), text, body: parsed(text) };
}

function headersOf(seen: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(seen))
    for (const value of [values ?? []].flat()) headers.append(name, value);
  return headers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
