import { timeLimit, withoutTrailingSlashes } from '../contracts.js';
import { ENDPOINTS, type Endpoint } from '../generated/endpoints.js';
import { boundTo, chunksOf } from './body.js';
import { refusalOf, SlipwayError } from './errors.js';
import { Listing } from './listing.js';
import { environmentFetch } from './proxied-fetch.js';
import { pause, pauseAfter } from './retries.js';
import type {
  AnswerOf,
  CallOptions,
  ConditionOptions,
  ItemOf,
  KeyOption,
  OperationId,
  OptionsOf,
  PageOf,
  PathOf,
  RehearsalOf,
} from './types.js';

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 4;
/** Far above the size of any JSON answer of the api. Files and streams are not read here. */
const MOST_JSON_BYTES = 64 * 1024 * 1024;

export interface SlipwayOptions {
  /**
   * Address of the api, such as `https://slipway.example.com`, with or without `/api/v1`. A path before `/api/v1`
   * belongs to it.
   */
  baseUrl: string;
  /** An API token, or a function that returns one for each try: the JWT of a signed-in person expires. */
  token: string | (() => string | Promise<string>);
  /** Time limit of one try of a call: 30 seconds by default. */
  timeoutMs?: number;
  /** How often a failed try is repeated, if a repetition is safe: 4 by default. */
  maxRetries?: number;
  /**
   * Whether the api refuses fields that it does not know, with `validation_failed`: true by default. If false, it
   * ignores them and lists them in `warnings`.
   */
  strict?: boolean;
  /** Another `fetch`. By default that of the runtime; in Node, through the proxies of the environment. */
  fetch?: typeof fetch;
}

export interface CallInput<Id extends OperationId> {
  path?: PathOf<Id>;
  body?: unknown;
  options?: OptionsOf<Id>;
  /** Media type of a body that is not JSON. */
  contentType?: string;
}

type AnyOptions = CallOptions & KeyOption & ConditionOptions & Record<string, unknown>;
type RequestBody = NonNullable<RequestInit['body']>;

type ResponseReader<T> = (response: Response, signal: AbortSignal) => Promise<T>;

interface PreparedCall {
  endpoint: Endpoint;
  url: string;
  headers: Record<string, string>;
  body: RequestBody | undefined;
  options: AnyOptions;
  isRepeatable: boolean;
}

/** Sends the requests of all resources, to the addresses in the table generated from the api's document. */
export class Transport {
  private readonly root: string;
  private readonly token: () => string | Promise<string>;
  private readonly fetch: typeof fetch;
  private readonly timeoutMs: number;
  private readonly maxRetries: number;
  private readonly strict: boolean;
  private answered = false;

  constructor({ baseUrl, token, timeoutMs, maxRetries, strict, fetch: own }: SlipwayOptions) {
    this.root = serverUrlOf(baseUrl);
    this.token = typeof token === 'function' ? token : () => token;
    this.fetch = own ?? environmentFetch();
    this.timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.maxRetries = maxRetries ?? MAX_RETRIES;
    this.strict = strict ?? true;
  }

  /** Whether any call has succeeded: its address and token are right, so a failed connection may be temporary. */
  get hasAnswered(): boolean {
    return this.answered;
  }

  call<Id extends OperationId>(id: Id, given: CallInput<Id>): Promise<AnswerOf<Id>> {
    return this.json(id, given);
  }

  /** Makes every check, writes nothing, and returns the changes that the call would make. */
  rehearse<Id extends OperationId>(id: Id, given: CallInput<Id>): Promise<RehearsalOf<Id>> {
    const options = { ...given.options, validate_only: true } as OptionsOf<Id>;
    return this.json(id, { ...given, options });
  }

  list<Id extends OperationId>(id: Id, given: CallInput<Id>): Listing<PageOf<Id>, ItemOf<Id>> {
    const read = (cursor: string | undefined): Promise<PageOf<Id>> =>
      this.json(id, { ...given, options: { ...given.options, ...(cursor && { cursor }) } as OptionsOf<Id> });
    return new Listing(read);
  }

  /**
   * Returns the answer itself with its body unread. Time-out and signal end with its headers, and do not apply to its
   * body.
   */
  async raw<Id extends OperationId>(id: Id, given: CallInput<Id>): Promise<Response> {
    return this.tryAll(this.prepare(id, given), (response) => Promise.resolve(response));
  }

  /** The same for callers that read the body themselves: the signal still applies. */
  async bytes<Id extends OperationId>(id: Id, given: CallInput<Id>): Promise<Response> {
    return boundTo(given.options?.signal, await this.raw(id, given));
  }

  private async json<Id extends OperationId, Answer>(id: Id, given: CallInput<Id>): Promise<Answer> {
    return this.tryAll(this.prepare(id, given), async (response, signal) => {
      const text = await bodyTextOf(response, signal);
      try {
        return JSON.parse(text) as Answer;
      } catch (cause) {
        const { status } = response;
        throw new SlipwayError('The response is not JSON.', {
          code: 'unexpected_answer',
          retryable: false,
          status,
          cause,
        });
      }
    });
  }

  private prepare<Id extends OperationId>(id: Id, { path, body, options, contentType }: CallInput<Id>): PreparedCall {
    const endpoint: Endpoint = ENDPOINTS[id];
    const all = (options ?? {}) as AnyOptions;
    const headers: Record<string, string> = { accept: 'application/json', ...all.headers };
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    // Made once for the call, and so kept through its retries.
    if (endpoint.takesKey) headers['idempotency-key'] = all.idempotencyKey ?? newKey();
    if (endpoint.takesIfMatch && all.ifMatch !== undefined) headers['if-match'] = all.ifMatch;
    if (endpoint.takesIfMatch && all.ifNoneMatch !== undefined) headers['if-none-match'] = all.ifNoneMatch;
    // Other bodies are bytes, which have no fields.
    const isStrict = body !== undefined && contentType === undefined && (all.strict ?? this.strict);
    return {
      endpoint,
      url: this.root + pathOf(endpoint, (path ?? {}) as Record<string, string>) + queryOf(endpoint, all, isStrict),
      headers,
      body: body === undefined || contentType ? (body as RequestBody | undefined) : JSON.stringify(body),
      options: all,
      isRepeatable: isRepeatable(endpoint, headers, body),
    };
  }

  private async tryAll<T>(prepared: PreparedCall, read: ResponseReader<T>): Promise<T> {
    const { options, isRepeatable, body } = prepared;
    // The first try has consumed the stream.
    const most = body instanceof ReadableStream ? 0 : (options.maxRetries ?? this.maxRetries);
    for (let before = 0; ; before += 1) {
      try {
        return await this.tryOnce(prepared, read);
      } catch (error) {
        const pauseMs = pauseAfter(error, { before, most, isRepeatable });
        if (pauseMs === undefined) throw error;
        await pause(pauseMs, options.signal);
      }
    }
  }

  private async tryOnce<T>(prepared: PreparedCall, read: ResponseReader<T>): Promise<T> {
    const { endpoint, url, headers, body, options } = prepared;
    const authorization = `Bearer ${await this.token()}`;
    const limitMs = options.timeoutMs ?? this.timeoutMs;
    const limit = timeLimit(limitMs, options.signal);
    try {
      const response = await this.fetch(url, {
        method: endpoint.method,
        headers: { ...headers, authorization },
        body,
        // The api never redirects, and no other server may get the token.
        redirect: 'error',
        signal: limit.signal,
        // Without it, Node accepts no stream as a body.
        ...(body instanceof ReadableStream && { duplex: 'half' }),
      });
      if (!response.ok && response.status !== 304) throw refusalOf(response, await bodyTextOf(response, limit.signal));
      this.answered = true;
      return await read(response, limit.signal);
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      options.signal?.throwIfAborted();
      const what = `${endpoint.method} ${url}`;
      throw limit.hasPassed()
        ? new SlipwayError(`${what}: no response within ${limitMs} ms`, { code: 'timed_out', retryable: true })
        : new SlipwayError(`${what}: no response`, { code: 'connection_failed', retryable: true, cause: error });
    } finally {
      limit.stop();
    }
  }
}

/**
 * The address of a server, without a slash at its end: `https://slipway.example.com` for
 * `https://slipway.example.com/api/v1/`.
 * @throws TypeError if it is no http or https URL
 */
export function serverUrlOf(baseUrl: string): string {
  const { origin, pathname, protocol } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`baseUrl must start with http:// or https://: ${baseUrl}`);
  const path = withoutTrailingSlashes(pathname);
  return origin + (path.endsWith('/api/v1') ? withoutTrailingSlashes(path.slice(0, -'/api/v1'.length)) : path);
}

/**
 * A try that failed without an answer may have been carried out. So it is repeated only if a second one does no harm.
 */
function isRepeatable({ method, takesKey }: Endpoint, headers: Record<string, string>, body: unknown): boolean {
  if (body instanceof ReadableStream) return false;
  // If it was carried out, the second try would find another etag and report a change by another client.
  if (headers['if-match'] !== undefined || headers['if-none-match'] !== undefined) return false;
  return takesKey === true || method !== 'POST';
}

function pathOf({ path }: Endpoint, given: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name];
    // A URL parser would take dots for path segments, and lead to another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${path}: ${name} must have a value`);
    return encodeURIComponent(value);
  });
}

function queryOf({ query = [] }: Endpoint, options: AnyOptions, isStrict: boolean): string {
  const given = new URLSearchParams();
  for (const name of query)
    if (name !== 'strict' && options[name] !== undefined) given.set(name, String(options[name]));
  if (isStrict) given.set('strict', 'true');
  return given.size > 0 ? `?${given.toString()}` : '';
}

/** Not `crypto.randomUUID`: browsers have it only over https. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function bodyTextOf(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of chunksOf(response, { signal })) {
    bytes += chunk.byteLength;
    if (bytes > MOST_JSON_BYTES)
      throw new SlipwayError(`The response is too long: at most ${MOST_JSON_BYTES} bytes.`, {
        code: 'unexpected_answer',
        retryable: false,
        status: response.status,
      });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
