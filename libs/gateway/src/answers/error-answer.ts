import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { answerTooLarge, errorBody, upstreamFailed } from '../gateway.errors.js';
import type { ClientAnswer } from './answer.js';
import { isCoded, returnedHeaders } from '../headers.js';
import { withoutHostPaths } from './host-paths.js';

const MAX_ERROR_BYTES = 64 * 1024;

/** The two names of a model: the one sent to the engine and the one that the client sent. */
export interface ModelNames {
  modelId: string;
  model: string;
}

/** The body of an upstream error. It is kept whole, because the gateway sends it in other words. */
export class ErrorText {
  private readonly chunks: Buffer[] = [];
  private size = 0;

  /** @throws GatewayError 502 beyond 64 KiB: the error is built from its beginning, and the rest is not read */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > MAX_ERROR_BYTES) throw answerTooLarge();
    this.chunks.push(chunk);
  }

  toString(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }
}

/** Sends an upstream error in the shape that clients read, without paths of files on the host. */
export class ErrorAnswer implements ClientAnswer {
  private status = 502;
  private head: OutgoingHttpHeaders = {};
  private isUnreadable = false;
  private readonly text = new ErrorText();

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly names: ModelNames,
  ) {}

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    const { 'retry-after': retryAfter } = returnedHeaders(headers, {});
    this.head = { 'content-type': 'application/json', ...(retryAfter && { 'retry-after': retryAfter }), ...this.own };
    this.isUnreadable = isCoded(headers);
  }

  data(chunk: Buffer): boolean {
    this.text.add(chunk);
    return true;
  }

  end(): void {
    const text = this.isUnreadable ? '' : this.text.toString();
    this.response.writeHead(this.status, this.head);
    this.response.end(openAiError(this.status, text, this.names));
  }

  cut(): void {
    this.end();
  }
}

function openAiError(status: number, text: string, names: ModelNames): string {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  const parsed = parsedJson(text);
  if (parsed === undefined)
    return errorBody(shown(text.trim(), names).slice(0, 2_000) || upstreamFailed().message, type, null, null);
  const object = objectOf(parsed) ?? {};
  const error = objectOf(object['error']);
  if (error) return JSON.stringify({ error: shownMembers(error, names) });
  const message = [object['error'], object['message'], object['detail']].find(
    (one) => typeof one === 'string' && one !== '',
  ) as string | undefined;
  const code = typeof object['code'] === 'string' ? object['code'] : null;
  return errorBody(shown(message ?? upstreamFailed().message, names), type, null, code && shown(code, names));
}

/** Keeps numbers that clients read (the length of a prompt). Drops nested members: their content is unknown. */
function shownMembers(error: Record<string, unknown>, names: ModelNames): Record<string, unknown> {
  const members = Object.entries(error).flatMap(([name, value]) => {
    if (name === 'model') return [[name, names.model]];
    if (typeof value === 'string') return [[name, shown(value, names)]];
    return typeof value === 'object' && value !== null ? [] : [[name, value]];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

function shown(text: string, { modelId, model }: ModelNames): string {
  return withoutHostPaths(text, modelId, model);
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
