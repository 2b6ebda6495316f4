import { setTimeout as delay } from 'node:timers/promises';

export interface ChatAnswer {
  text: string;
  /** The model that the server behind the gateway says it is. */
  model: string;
  /** The revision that answered, as the gateway tells its own tenant. */
  revision: string | null;
  firstTokenMs: number;
  totalMs: number;
  tokens: number;
}

/** A route reaches the gateway within moments of its commit; before that it answers 404 or 503. */
const ROUTE_SEEN_MS = 10_000;

/** One streamed chat completion, as any OpenAI client sends it: `model` is the deployment's name. */
export async function chat(gateway: string, token: string, model: string, question: string): Promise<ChatAnswer> {
  const deadline = performance.now() + ROUTE_SEEN_MS;
  for (;;) {
    const startedAt = performance.now();
    const response = await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: question }],
      }),
    });
    if (response.ok && response.body) return readStream(response, response.body, startedAt);
    const text = await response.text();
    const isTooEarly = response.status === 404 || response.status === 503;
    if (!isTooEarly || performance.now() > deadline)
      throw new Error(`the gateway answered ${response.status}: ${text.slice(0, 300)}`);
    await delay(100);
  }
}

interface Chunk {
  model?: string;
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
    model: '',
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
    answer.model = chunk.model ?? answer.model;
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
