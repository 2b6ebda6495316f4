import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  answerTooLarge,
  errorBody,
  GatewayError,
  modelQuotaExceeded,
  upstreamCredentialRefused,
  upstreamFailed,
  upstreamModelMissing,
  upstreamNotFound,
  upstreamRedirected,
} from '../gateway.errors.js';
import { headerText, isCoded, requestedWaitMs, returnedHeaders } from '../headers.js';
import { judgeError, type AnswerJudgement } from './answer-judge.js';
import { sendGatewayError, type ClientAnswer } from './answer.js';
import { contextNumbers, errorKind, type EngineError } from '@slipway/contracts';
import { HeldText, utf8Of } from './held-text.js';
import { isHostPath, withoutHostPaths } from './host-paths.js';

const MAX_ERROR_BYTES = 64 * 1024;
/** Headers that tell clients whether and when to try again. */
const RETRY_HEADERS = /^(retry-after(-ms)?|x-should-retry|x-ratelimit-[a-z-]+)$/;

/** The two names of a model: the one sent to the engine and the one that the client sent. */
export interface ModelNames {
  modelId: string;
  model: string;
}

/** Keeps the body of an upstream error, because the gateway sends it in other words. */
abstract class JudgedErrorAnswer implements ClientAnswer {
  protected status = 502;
  protected headers: IncomingHttpHeaders = {};
  private readonly text = new HeldText(MAX_ERROR_BYTES);

  constructor(
    protected readonly response: ServerResponse,
    protected readonly own: OutgoingHttpHeaders,
  ) {}

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  /** @throws GatewayError 502 beyond 64 KiB: the error is built from its beginning, and the rest is not read */
  data(chunk: Buffer): boolean {
    if (this.text.add(chunk)) return true;
    this.text.add(chunk.subarray(0, MAX_ERROR_BYTES - this.text.length));
    throw answerTooLarge();
  }

  end(): void {
    const text = isCoded(this.headers) ? '' : utf8Of(this.text.take());
    this.send(judgeError(this.status, this.headers, text));
  }

  cut(): void {
    this.end();
  }

  protected abstract send(judgement: AnswerJudgement): void;
}

/** Returns the error for a fault that no client can correct; undefined for any other. */
function operatorsFault(status: number, { fault }: AnswerJudgement): GatewayError | undefined {
  if (fault === 'credential') return upstreamCredentialRefused();
  if (fault === 'model_missing') return upstreamModelMissing();
  if (fault === 'redirect') return upstreamRedirected(status);
  return fault === 'status' && status === 404 ? upstreamNotFound() : undefined;
}

/** Sends an upstream error in the shape that clients read, without paths of files on the host. */
export class ErrorAnswer extends JudgedErrorAnswer {
  constructor(
    response: ServerResponse,
    own: OutgoingHttpHeaders,
    private readonly names: ModelNames,
  ) {
    super(response, own);
  }

  protected send(judgement: AnswerJudgement): void {
    const fault = operatorsFault(this.status, judgement);
    if (fault) return sendGatewayError(this.response, this.own, fault);
    const returned = returnedHeaders(this.headers, {});
    const head: OutgoingHttpHeaders = { 'content-type': 'application/json' };
    for (const name in returned) if (RETRY_HEADERS.test(name)) head[name] = returned[name];
    this.response.writeHead(this.status, Object.assign(head, this.own));
    this.response.end(openAiError(this.status, judgement.error, this.names));
  }
}

function openAiError(status: number, error: EngineError | null, names: ModelNames): string {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  if (!error) return errorBody(upstreamFailed().message, type, null, null);
  const shown = <T>(value: T): T | string =>
    typeof value === 'string' ? withoutHostPaths(value, names.modelId, names.model) : value;
  const details = Object.entries(error.details)
    .filter(([name]) => !isHostPath(name))
    .map(([name, value]) => [name, name === 'model' ? names.model : shown(value)]);
  return JSON.stringify({
    error: {
      message: shown(error.message) || upstreamFailed().message,
      type: shown(error.type) ?? type,
      param: shown(error.param),
      code: shown(error.code),
      ...(Object.fromEntries(details) as object),
    },
  });
}

/** Codes that describe the client's own request and do not reveal the supplier. */
const DISCLOSED_CODES: ReadonlySet<unknown> = new Set([
  'invalid_value',
  'missing_required_parameter',
  'unsupported_parameter',
  'invalid_json',
]);

/** Replaces a supplier's error: its text could name anyone. Names the wrong parameter if the client itself sent it. */
export class PublishedErrorAnswer extends JudgedErrorAnswer {
  constructor(
    response: ServerResponse,
    own: OutgoingHttpHeaders,
    private readonly sentParameters: readonly string[],
  ) {
    super(response, own);
  }

  protected send(judgement: AnswerJudgement): void {
    const error = publishedError(this.status, judgement, this.sentParameters, this.headers);
    sendGatewayError(this.response, this.own, error);
  }
}

/** Returns the error that a client of a published product gets for an answer that is not valid. */
export function publishedError(
  status: number,
  judgement: AnswerJudgement,
  sentParameters: readonly string[],
  headers: IncomingHttpHeaders = {},
): GatewayError {
  const { error, fault } = judgement;
  const kind = error && errorKind(error);
  const isInAnswer = fault === 'error_in_answer';
  const shownStatus = isInAnswer ? statusIn(error, kind) : judgement.outcome === 'server_error' ? 502 : status;
  if ([408, 425, 429].includes(shownStatus)) return busy(shownStatus, headers);
  if (status === 503 && requestedWaitMs(headers) !== undefined) return busy(status, headers);
  const param = error?.param && sentParameters.includes(error.param) ? error.param : null;
  const isRequests = shownStatus < 500;
  const type = isRequests ? 'invalid_request_error' : 'server_error';
  if (fault !== 'credential' && fault !== 'model_missing') {
    if (kind === 'context_length')
      return new GatewayError(shownStatus, type, 'context_length_exceeded', lengthMessage(error as EngineError), param);
    if (kind === 'content_filter')
      return new GatewayError(
        shownStatus,
        type,
        'content_filter',
        'The request was refused by a content filter.',
        param,
      );
    if (kind === 'unsupported_content')
      return new GatewayError(
        shownStatus,
        type,
        'unsupported_content',
        'The request has content that the model does not accept, such as pictures, audio or files.',
        param,
      );
  }
  if (!isRequests) return upstreamFailed();
  const code = DISCLOSED_CODES.has(error?.code) ? (error?.code as string) : null;
  return new GatewayError(shownStatus, type, code, 'The model rejected the request as invalid.', param);
}

/** The status that an error inside an answer would have had before the answer's head. */
function statusIn(error: EngineError | null, kind: ReturnType<typeof errorKind> | null): number {
  if (kind === 'rate_limit') return 429;
  if (kind === 'model_missing') return 502;
  if (kind !== null) return 400;
  const given = [
    error?.code,
    error?.details['http_status_code'],
    error?.details['status_code'],
    error?.details['status'],
  ];
  const status = given.map(Number).find((one) => one >= 400 && one < 600) ?? 502;
  return status >= 500 || [401, 402, 403, 404].includes(status) ? 502 : status;
}

function busy(status: number, headers: IncomingHttpHeaders): GatewayError {
  const { message, type, code } = modelQuotaExceeded();
  // Written anew, because a text that is only like a time could name the supplier.
  const waitMs = requestedWaitMs(headers);
  const times: Record<string, string> = {
    'retry-after': waitMs === undefined ? '1' : String(Math.ceil(waitMs / 1_000)),
  };
  if (waitMs !== undefined && headerText(headers, 'retry-after-ms') !== undefined)
    times['retry-after-ms'] = String(Math.ceil(waitMs));
  if (status === 429) return new GatewayError(status, type, code, message, null, times);
  return new GatewayError(status, 'server_error', 'overloaded', 'The model is busy. Try again later.', null, times);
}

function lengthMessage(error: EngineError): string {
  const { limit, requested } = contextNumbers(error);
  const most = limit === null ? '' : ` of ${limit} tokens`;
  const sent = requested === null ? '' : `: it has ${requested} tokens`;
  return `The request is longer than the model’s context${most}${sent}.`;
}
