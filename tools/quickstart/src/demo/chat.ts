import { setTimeout as delay } from 'node:timers/promises';
import { timeLimit } from '@slipway/contracts';
import { whyNoAnswer } from './failure-text.js';

export interface ChatAnswer {
  text: string;
  /** The revision that answered, which the gateway reports to its own tenant. */
  revision: string | null;
  firstTokenMs: number;
  totalMs: number;
  tokens: number;
}

/**
 * A route reaches the gateway within moments of its commit; before that the gateway answers 404 or 503. A gateway that
 * died is restarted.
 */
const ROUTE_SEEN_MS = 15_000;
/** Limit for an answer, up to its last token. */
const ANSWER_MS = 60_000;

/**
 * Sends one streamed chat completion, as any OpenAI client does: `model` is the name of the deployment.
 * @throws Error if the gateway gives no answer within the limit
 */
export async function chat(
  gateway: string,
  token: string,
  model: string,
  question: string,
  patienceMs = ROUTE_SEEN_MS,
): Promise<ChatAnswer> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const startedAt = performance.now();
    const limit = timeLimit(ANSWER_MS);
    try {
      const response = await ask({ gateway, token, model, question }, limit.signal);
      if (typeof response !== 'string' && response.ok && response.body)
        return await readStream(response, response.body, startedAt);
      const problem =
        typeof response === 'string'
          ? `the gateway at ${gateway} does not respond (${response})`
          : `the gateway returned ${response.status}: ${(await response.text()).slice(0, 300)}`;
      const isTooEarly = typeof response === 'string' || response.status === 404 || response.status === 503;
      if (!isTooEarly || performance.now() > deadline) throw new Error(problem);
    } finally {
      limit.stop();
    }
    await delay(100);
  }
}

/** @returns the answer, or the reason why there is none */
async function ask(
  { gateway, token, model, question }: Record<'gateway' | 'token' | 'model' | 'question', string>,
  signal: AbortSignal,
): Promise<Response | string> {
  try {
    return await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: question }],
      }),
      signal,
    });
  } catch (error) {
    return whyNoAnswer(error);
  }
}

interface Chunk {
  choices?: { delta?: { content?: string } }[];
  usage?: { completion_tokens?: number } | null;
  error?: { message: string };
}

async function readStream(
  response: Response,
  body: ReadableStream<Uint8Array>,
  startedAt: number,
): Promise<ChatAnswer> {
  const answer: ChatAnswer = {
    text: '',
    revision: response.headers.get('x-slipway-revision'),
    firstTokenMs: 0,
    totalMs: 0,
    tokens: 0,
  };
  for await (const chunk of events(body)) {
    if (chunk.error) throw new Error(chunk.error.message);
    const content = chunk.choices?.[0]?.delta?.content ?? '';
    if (content && answer.text === '') answer.firstTokenMs = performance.now() - startedAt;
    answer.text += content;
    answer.tokens = chunk.usage?.completion_tokens ?? answer.tokens;
  }
  answer.totalMs = performance.now() - startedAt;
  return answer;
}

/** Server-sent events up to `[DONE]`. An event may arrive in pieces, and several may arrive at once. */
export async function* events(body: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true }).replaceAll('\r\n', '\n');
    const complete = rest.split('\n\n');
    rest = complete.pop() ?? '';
    for (const event of complete) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n');
      if (data === '[DONE]') return;
      if (data) yield JSON.parse(data) as Chunk;
    }
  }
}
