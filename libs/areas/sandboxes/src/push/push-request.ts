import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { retryAfterMs, withinTime, withoutTrailingSlashes } from '@slipway/contracts';
import { type Dispatcher, request } from 'undici';
import type { ExternalProvider } from '../references/reference.dto.js';
import { TRANSFER_IDLE_TIMEOUT_MS } from '../storage/time-limits.js';

/** An answer has no reason to be larger; its content is ignored. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The destination of a file. */
export interface PushDestination {
  provider: ExternalProvider;
  baseUrl: string;
  externalId: string;
  /** In plain text, for this request only. */
  credential?: string;
}

/** One HTTP request, as `undici.request` takes it. */
export interface PushRequest {
  url: string;
  method: 'POST' | 'PUT';
  headers: Record<string, string>;
  body: AsyncIterable<Buffer>;
}

export interface OutgoingFile {
  path: string;
  sizeBytes: number;
  content: Readable;
}

/**
 * Returns the request with which each provider takes a file. A repeated push replaces the file with itself.
 *
 * - `e2b`: envd of a sandbox, `POST /files?path=`, multipart, `X-Access-Token`; base_url is the sandbox's own address.
 * - `daytona`: `POST /toolbox/{id}/toolbox/files/upload?path=`, multipart, bearer; base_url is the API's.
 * - `custom`: `PUT /{id}/files?path=`, the bare bytes, bearer, as this service itself takes a stream.
 */
export function pushRequest(destination: PushDestination, file: OutgoingFile): PushRequest {
  const base = withoutTrailingSlashes(destination.baseUrl);
  const id = encodeURIComponent(destination.externalId);
  const query = `?path=${encodeURIComponent(file.path)}`;
  const { credential } = destination;
  const bearer = credential === undefined ? undefined : { authorization: `Bearer ${credential}` };
  if (destination.provider === 'e2b')
    return multipart(
      `${base}/files${query}`,
      credential === undefined ? undefined : { 'x-access-token': credential },
      file,
    );
  if (destination.provider === 'daytona')
    return multipart(`${base}/toolbox/${id}/toolbox/files/upload${query}`, bearer, file);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(file.sizeBytes), ...bearer };
  return { url: `${base}/${id}/files${query}`, method: 'PUT', headers, body: file.content };
}

/** RFC 7578 with one part, streamed. Its length is known in advance, so that no server has to accept chunks. */
function multipart(url: string, access: Record<string, string> | undefined, file: OutgoingFile): PushRequest {
  const boundary = `slipway-${randomUUID()}`;
  const name = file.path.split('/').pop()!.replaceAll('"', '%22');
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + file.sizeBytes + tail.length),
    ...access,
  };
  return { url, method: 'POST', headers, body: joined(head, file.content, tail) };
}

async function* joined(head: Buffer, content: Readable, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  yield* content as AsyncIterable<Buffer>;
  yield tail;
}

export interface PushAnswer {
  status: number;
  /** The wait that the other side requests. */
  retryAfterMs?: number;
}

export interface SendBounds {
  dispatcher: Dispatcher;
  signal: AbortSignal;
  /** Milliseconds for the whole request. */
  limitMs: number;
  /** Milliseconds in which the other side may make no progress. */
  idleTimeoutMs?: number;
}

/**
 * Sends one request with a file and returns what its answer decides. It ends if no byte passes for `idleTimeoutMs`,
 * after `limitMs` even if bytes still pass, and at once when the signal aborts.
 */
export function sendFile(push: PushRequest, { signal: outer, limitMs, ...bounds }: SendBounds): Promise<PushAnswer> {
  return withinTime(limitMs, outer, (signal) => exchange(push, { ...bounds, signal }));
}

async function exchange(
  { url, ...options }: PushRequest,
  { dispatcher, signal, idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS }: Omit<SendBounds, 'limitMs'>,
): Promise<PushAnswer> {
  const answer = await request(url, {
    ...options,
    dispatcher,
    // Counted from the last byte that the other side took.
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    signal,
  } as Parameters<typeof request>[1]);
  await answer.body.dump({ limit: MAX_ANSWER_BYTES });
  const { statusCode: status, headers } = answer;
  return { status, retryAfterMs: retryAfterMs(headers['retry-after'], headers['date'], Date.now()) };
}
