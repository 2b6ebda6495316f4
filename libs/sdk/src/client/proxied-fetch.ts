/// <reference types="node" />
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { isNode, nodeModule } from './node-modules.js';
import { hostOf, proxyFor, type ChosenProxy, type ProxyEnvironment } from './proxy-choice.js';

/** As many as browsers follow. */
const MOST_REDIRECTS = 20;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Statuses whose answers have no body. */
const NO_BODY = [204, 205, 304];

interface ProxiedRequest {
  method: string;
  headers: Headers;
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  redirect: Request['redirect'];
  signal: AbortSignal | undefined;
}

/**
 * A `fetch` that calls servers through the proxies of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, as curl does.
 * Node 20 ignores these variables; browsers, Bun and Deno have proxies of their own.
 */
export function environmentFetch(
  env?: ProxyEnvironment,
  direct: typeof fetch = (...request) => globalThis.fetch(...request),
): typeof fetch {
  if (!isNode()) return direct;
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : String(input));
    let proxy = proxyOf(url, env);
    if (proxy === undefined) return direct(input, init);
    const request = requestOf(input, init);
    for (let redirects = 0; ; redirects += 1) {
      const response = await proxiedAnswer(proxy, url, request);
      const next = await redirectOf(response, url, request);
      if (next === undefined) return Object.defineProperty(response, 'url', { value: url.href });
      if (redirects === MOST_REDIRECTS) throw new TypeError(`More than ${MOST_REDIRECTS} redirects.`);
      if (next.origin !== url.origin) for (const name of ['authorization', 'cookie']) request.headers.delete(name);
      url = next;
      proxy = proxyOf(url, env);
      const { method, headers, redirect, signal } = request;
      if (proxy === undefined) return direct(url.href, { method, headers, redirect, ...(signal && { signal }) });
    }
  };
}

const proxyOf = (url: URL, env: ProxyEnvironment | undefined): ChosenProxy | undefined =>
  url.protocol === 'http:' || url.protocol === 'https:' ? proxyFor(url, env ?? process.env) : undefined;

function requestOf(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): ProxiedRequest {
  const request = new Request(input, init);
  const { method, headers, redirect } = request;
  // A body whose length is known is sent with it. Any other is a stream.
  const isWhole = typeof init?.body === 'string' || init?.body instanceof Uint8Array;
  const body = isWhole ? (init.body as string | Uint8Array) : request.body;
  // The signal of the request itself: Node holds that of a copy weakly.
  const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
  return { method, headers, body, redirect, signal };
}

/** @returns the address that a redirect leads to; undefined if the answer is to be used as it is */
async function redirectOf(
  response: Response,
  url: URL,
  { redirect, method }: ProxiedRequest,
): Promise<URL | undefined> {
  const location = response.headers.get('location');
  if (location === null || !REDIRECTS.includes(response.status) || redirect === 'manual') return undefined;
  await response.body?.cancel();
  if (redirect === 'error') throw new TypeError('The server redirects, which is not allowed here.');
  if (method !== 'GET' && method !== 'HEAD') throw new TypeError(`A redirect of ${method} is not followed.`);
  return new URL(location, url);
}

/** Sends a request through a proxy: a plain one for http, a tunnel for https. */
async function proxiedAnswer(proxy: ChosenProxy, url: URL, asked: ProxiedRequest): Promise<Response> {
  asked.signal?.throwIfAborted();
  const { method, headers, body, signal } = asked;
  const sent: Record<string, string> = { ...Object.fromEntries(headers.entries()), host: url.host };
  if (typeof body === 'string' || body instanceof Uint8Array) sent['content-length'] = String(sizeOf(body));
  const request =
    url.protocol === 'https:'
      ? await tunnelledRequest(proxy, url, { method, headers: sent }, signal)
      : plainRequest(proxy, { method, headers: { ...sent, ...authorizationOf(proxy) }, path: addressOf(url) });
  endWith(request, signal);
  try {
    const answered = answerOf(request, url.protocol === 'https:' ? undefined : proxy);
    // Its failure is that of the answer, which is awaited after the body was sent.
    answered.catch(() => undefined);
    await sendBody(request, body);
    return responseOf(await answered);
  } catch (error) {
    signal?.throwIfAborted();
    request.destroy();
    throw error;
  }
}

/** Ends an open request when the signal aborts. */
function endWith(request: ClientRequest, signal: AbortSignal | undefined): void {
  const end = () => request.destroy(signal?.reason as Error);
  signal?.addEventListener('abort', end, { once: true });
  request.once('close', () => signal?.removeEventListener('abort', end));
}

const sizeOf = (body: string | Uint8Array): number =>
  typeof body === 'string' ? new TextEncoder().encode(body).byteLength : body.byteLength;

/** The address as a proxy receives it: without the fragment, and without a user. */
const addressOf = ({ protocol, host, pathname, search }: URL): string => `${protocol}//${host}${pathname}${search}`;

function authorizationOf({ url }: ChosenProxy): Record<string, string> {
  if (url.username === '') return {};
  const bytes = new TextEncoder().encode(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`);
  return { 'proxy-authorization': `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Opens a request to the proxy itself. */
function plainRequest({ url }: ChosenProxy, options: RequestOptions): ClientRequest {
  const { request } = url.protocol === 'https:' ? nodeModule('node:https') : nodeModule('node:http');
  return request({ agent: false, host: hostOf(url), port: url.port, ...options });
}

/** Opens a request through a tunnel: the proxy sees the name of the server, and nothing else. */
async function tunnelledRequest(
  proxy: ChosenProxy,
  url: URL,
  options: RequestOptions,
  signal: AbortSignal | undefined,
): Promise<ClientRequest> {
  const socket = await tunnelTo(proxy, `${url.hostname}:${url.port || 443}`, signal);
  const host = hostOf(url);
  const isName = nodeModule('node:net').isIP(host) === 0;
  const { connect } = nodeModule('node:tls');
  const createConnection = () => connect({ socket, host, ...(isName && { servername: host }) });
  // With an agent, even with `false`, Node would ignore the connection and make its own.
  return nodeModule('node:https').request(url, { ...options, createConnection });
}

function tunnelTo(proxy: ChosenProxy, authority: string, signal: AbortSignal | undefined): Promise<Socket> {
  const headers = { host: authority, ...authorizationOf(proxy) };
  const request = plainRequest(proxy, { method: 'CONNECT', path: authority, headers });
  endWith(request, signal);
  return new Promise((resolve, reject) => {
    request.once('error', (error) => reject(signal?.aborted ? error : failureOf(proxy, error)));
    request.once('response', (answer) => {
      answer.destroy();
      reject(refusalOf(proxy, answer));
    });
    request.once('connect', (answer, socket, head) => {
      if (answer.statusCode === undefined || answer.statusCode > 299) {
        socket.destroy();
        reject(refusalOf(proxy, answer));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
    });
    request.end();
  });
}

const refusalOf = ({ variable }: ChosenProxy, { statusCode, statusMessage }: IncomingMessage): Error =>
  new Error(`The proxy of ${variable} refused to connect: ${statusCode} ${statusMessage ?? ''}`.trim());

const failureOf = ({ variable }: ChosenProxy, cause: Error): Error =>
  new Error(`The proxy of ${variable} does not respond: ${cause.message}`);

async function sendBody(request: ClientRequest, body: ProxiedRequest['body']): Promise<void> {
  if (!(body instanceof ReadableStream)) {
    request.end(body ?? undefined);
    return;
  }
  const { Readable, promises } = nodeModule('node:stream');
  await promises.pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), request);
}

/** @param proxy the proxy if it answers itself, and not the server through a tunnel */
function answerOf(request: ClientRequest, proxy: ChosenProxy | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', (error) => reject(proxy ? failureOf(proxy, error) : error));
  });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText, rawHeaders } = answer;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  if (NO_BODY.includes(status)) {
    answer.resume();
    return new Response(null, { status, statusText, headers });
  }
  const body = nodeModule('node:stream').Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status, statusText, headers });
}
