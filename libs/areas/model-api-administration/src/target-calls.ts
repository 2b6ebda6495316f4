import { EgressRefusedError } from '@slipway/platform-egress';
import { request, type Dispatcher } from 'undici';

/** A server to qualify. `credential` is the plaintext; nothing here repeats it. */
export interface CallableTarget {
  baseUrl: string;
  model: string;
  credential: string | undefined;
  dispatcher: Dispatcher;
}

/** What one call showed. `isOutage`: the target did not work at all, as opposed to working wrongly. */
export interface CallResult {
  passed: boolean;
  /** Our own words: operations are read by viewers, who must not learn who answers. */
  message: string;
  durationMs: number;
  isOutage: boolean;
}

interface Answer {
  status: number;
  type: string;
  text: string;
}

type Verdict = { passed: boolean; message: string };

const CALL_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Nobody calls a model like this. */
const UNKNOWN_MODEL = 'slipway-qualification-no-such-model';
const QUESTION = { messages: [{ role: 'user', content: 'Answer with the word ready.' }], max_tokens: 16 };

export function listModels(target: CallableTarget, signal: AbortSignal): Promise<CallResult> {
  return called(target, { path: '/models', signal }, (answer) => {
    const data = (json(answer) as { data?: unknown } | undefined)?.data;
    if (answer.status !== 200 || !Array.isArray(data)) return failed(answer, 'a list of models');
    const isListed = data.some((model) => (model as { id?: unknown } | null)?.id === target.model);
    return {
      passed: true,
      message: isListed ? 'the model is listed' : 'models are listed, this one is not among them',
    };
  });
}

export function chatCompletion(target: CallableTarget, signal: AbortSignal): Promise<CallResult> {
  return called(target, { path: '/chat/completions', body: { model: target.model, ...QUESTION }, signal }, (answer) => {
    if (answer.status === 200 && isObject(firstChoice(json(answer))?.['message']))
      return { passed: true, message: 'answered' };
    return failed(answer, 'a chat completion');
  });
}

export function streamedCompletion(target: CallableTarget, signal: AbortSignal): Promise<CallResult> {
  return called(
    target,
    { path: '/chat/completions', body: { model: target.model, ...QUESTION, stream: true }, signal },
    (answer) => {
      if (answer.status !== 200 || !answer.type.startsWith('text/event-stream'))
        return failed(answer, 'an event stream');
      const events = answer.text
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trim());
      const chunks = events.filter((event) => isObject(firstChoice(parsed(event))?.['delta']));
      if (chunks.length === 0) return { passed: false, message: 'the stream held no chunk of a chat completion' };
      if (events[events.length - 1] !== '[DONE]')
        return { passed: false, message: 'the stream did not end with [DONE]' };
      return { passed: true, message: `${chunks.length} chunks` };
    },
  );
}

/** A target that answers to any name cannot be told from one that serves another model than the one bound. */
export function unknownModel(target: CallableTarget, signal: AbortSignal): Promise<CallResult> {
  return called(
    target,
    { path: '/chat/completions', body: { model: UNKNOWN_MODEL, ...QUESTION }, signal },
    (answer) => {
      const isRefused =
        answer.status >= 400 &&
        answer.status < 500 &&
        answer.status !== 401 &&
        answer.status !== 403 &&
        answer.status !== 429;
      const { error } = (json(answer) ?? {}) as { error?: unknown };
      if (isRefused && (isObject(error) || typeof error === 'string'))
        return { passed: true, message: `refused with ${answer.status}` };
      return failed(answer, 'a refusal (4xx) with an error object');
    },
  );
}

/** Never throws for what the target does. */
async function called(
  target: CallableTarget,
  call: { path: string; body?: object; signal: AbortSignal },
  judge: (answer: Answer) => Verdict,
): Promise<CallResult> {
  const startedAt = performance.now();
  const result = (verdict: Verdict, isOutage: boolean): CallResult => ({
    ...verdict,
    isOutage,
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    const answer = await exchange(target, call);
    return result(judge(answer), answer.status >= 500 || answer.status === 429);
  } catch (error) {
    call.signal.throwIfAborted();
    return result({ passed: false, message: reasonOf(error) }, !(error instanceof EgressRefusedError));
  }
}

async function exchange(
  { baseUrl, credential, dispatcher }: CallableTarget,
  { path, body, signal }: { path: string; body?: object; signal: AbortSignal },
): Promise<Answer> {
  const answer = await request(`${openAiRoot(baseUrl)}${path}`, {
    dispatcher,
    method: body ? 'POST' : 'GET',
    headers: {
      accept: '*/*',
      'user-agent': 'slipway',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(credential ? { authorization: `Bearer ${credential}` } : {}),
    },
    body: body ? JSON.stringify(body) : undefined,
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge();
    chunks.push(chunk as Buffer);
  }
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type'] ?? ''),
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

class AnswerTooLarge extends Error {}

/** Both `http://host` and `http://host/v1` are in use as the base URL of such a server. */
export function openAiRoot(baseUrl: string): string {
  return `${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
}

function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (error instanceof AnswerTooLarge) return `the answer was larger than ${MAX_ANSWER_BYTES} bytes`;
  if (error instanceof EgressRefusedError) return 'the egress guard refused the connection';
  if (name === 'TimeoutError') return `no answer within ${CALL_TIMEOUT_MS / 1_000} s`;
  return `the target could not be reached (${/^[A-Z_]{2,40}$/.test(code ?? '') ? code : 'no connection'})`;
}

function failed({ status }: Answer, wanted: string): Verdict {
  return {
    passed: false,
    message: status === 200 ? `the answer was not ${wanted}` : `answered ${status} instead of ${wanted}`,
  };
}

function json(answer: Answer): unknown {
  return parsed(answer.text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstChoice(completion: unknown): Record<string, unknown> | undefined {
  const { choices } = (isObject(completion) ? completion : {}) as { choices?: unknown };
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? first : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
