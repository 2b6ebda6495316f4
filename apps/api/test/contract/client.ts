import type { ContractRequest } from '@slipway/platform-testing/contract';
import type { Answer, TestApi } from '../harness/boot-api.js';
import type { ApiDocument, DocumentedOperation } from './document.js';
import type { Variation } from './variations.js';

/** A request as it is sent; `text` is sent as the body instead of `body`, and no body if both are missing. */
export interface OutgoingRequest extends ContractRequest {
  text?: string | Uint8Array;
  method?: string;
}

const SLOWEST_MS = 5_000;

/** Sends requests to operations, and checks each answer against the rules for all answers. */
export class ContractClient {
  private count = 0;

  constructor(
    readonly api: TestApi,
    readonly document: ApiDocument,
    /** The rules that answers have broken so far: one line each. */
    readonly violations: string[] = [],
  ) {}

  async ask(one: DocumentedOperation, sent: OutgoingRequest): Promise<Answer> {
    const requestId = `contract-${++this.count}`;
    const begun = performance.now();
    const answer = await this.api.send(sent.method ?? one.method, pathOf(one, sent), {
      body: sent.text ?? sent.body,
      token: sent.token,
      headers: { 'x-request-id': requestId, ...sent.headers },
    });
    const found = this.violationOf(one, answer, requestId, performance.now() - begun);
    if (found)
      this.violations.push(
        `${one.operationId}: ${found}: ${answer.status} ${answer.text.slice(0, 300)} to ${shown(sent)}`,
      );
    return answer;
  }

  /** Sends a request whose answer may break the document, because the test has changed the rows behind it. */
  askUnchecked(one: DocumentedOperation, sent: OutgoingRequest): Promise<Answer> {
    return this.api.send(one.method, pathOf(one, sent), { token: sent.token });
  }

  private violationOf(one: DocumentedOperation, answer: Answer, requestId: string, tookMs: number): string | undefined {
    if (tookMs > SLOWEST_MS) return `took ${Math.round(tookMs)} ms`;
    if (answer.headers['x-request-id'] !== requestId)
      return `X-Request-Id ${answer.headers['x-request-id']} instead of ${requestId}`;
    if (answer.status >= 500 && !BROUGHT_ABOUT.has(answer.body?.error?.code)) return 'a failure of the service';
    return this.document.violationOf(one, answer);
  }
}

/**
 * Failures that a client can cause by itself: a full workspace, and following logs that no
 * worker reads, because no worker runs here.
 */
const BROUGHT_ABOUT = new Set(['workspace_full', 'logs_unavailable']);

export function pathOf(one: { path: string }, { params, query }: ContractRequest): string {
  const path = one.path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params?.[name] ?? 'x'));
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

export function shown(sent: OutgoingRequest): string {
  const text = JSON.stringify({
    ...sent,
    ...(sent.text instanceof Uint8Array && { text: Buffer.from(sent.text).toString('hex') }),
  });
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}

/** Returns how an answer differs from the expected one; undefined if it does not. */
export function unless(
  answer: Answer,
  status: number,
  code: string | RegExp | undefined,
  what: string,
): string | undefined {
  const given: string | undefined = answer.body?.error?.code;
  const isExpected =
    answer.status === status &&
    (code === undefined || (typeof code === 'string' ? given === code : code.test(String(given))));
  return isExpected
    ? undefined
    : `${what}: expected ${status} ${code ?? ''}, got ${answer.status} ${answer.text.slice(0, 250)}`;
}

/** The status and code of an answer, to compare it with another. */
export function outcome(answer: Answer): string {
  return `${answer.status} ${answer.body?.error?.code ?? ''}`;
}

/** Whether an answer names the field of a variation, with one of its codes. */
export function names(answer: Answer, { field, codes }: Variation): boolean {
  const details: { field: string; code: string }[] = answer.body?.error?.details ?? [];
  return details.some((issue) => issue.field === field && codes.includes(issue.code));
}
