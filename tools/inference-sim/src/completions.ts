import type { ServerResponse } from 'node:http';
import {
  readCompletionRequest,
  readMessages,
  readTexts,
  type CompletionRequest,
  type Prompts,
} from './completion-request.js';
import type { JsonObject } from './request-body.js';
import type { Exchange } from './exchange.js';

const FINGERPRINT = 'fp_inference_sim';

/**
 * Differences between chat and text completions. Pieces are JSON text, because a stream writes thousands of them per
 * second.
 */
interface Dialect {
  readPrompts(body: JsonObject): Prompts;
  idPrefix: string;
  object: string;
  chunkObject: string;
  choice(index: number, text: string, finishReason: string): unknown;
  /** First chunk of a choice, before any token. */
  opening?(index: number): string;
  piece(index: number, token: string): string;
  closing(index: number, finishReason: string): string;
}

const CHAT: Dialect = {
  readPrompts: readMessages,
  idPrefix: 'chatcmpl',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  choice: (index, content, finish_reason) => ({
    index,
    message: { role: 'assistant', content, refusal: null, annotations: [] },
    logprobs: null,
    finish_reason,
  }),
  opening: (index) =>
    `{"index":${index},"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}`,
  piece: (index, token) => `{"index":${index},"delta":{"content":${token}},"logprobs":null,"finish_reason":null}`,
  closing: (index, reason) => `{"index":${index},"delta":{},"logprobs":null,"finish_reason":"${reason}"}`,
};

const TEXT: Dialect = {
  readPrompts: (body) => {
    const prompt = readTexts(body, 'prompt');
    return { number: prompt.texts.length, tokens: prompt.tokens };
  },
  idPrefix: 'cmpl',
  object: 'text_completion',
  chunkObject: 'text_completion',
  choice: (index, text, finish_reason) => ({ text, index, logprobs: null, finish_reason }),
  piece: (index, token) => `{"text":${token},"index":${index},"logprobs":null,"finish_reason":null}`,
  closing: (index, reason) => `{"text":"","index":${index},"logprobs":null,"finish_reason":"${reason}"}`,
};

export const answerChat = (exchange: Exchange, body: JsonObject): Promise<void> => answer(CHAT, exchange, body);

export const answerText = (exchange: Exchange, body: JsonObject): Promise<void> => answer(TEXT, exchange, body);

async function answer(dialect: Dialect, exchange: Exchange, body: JsonObject): Promise<void> {
  const request = readCompletionRequest(body, dialect.readPrompts(body), exchange.options.tokens);
  exchange.accept(request, request.choices);
  if (request.isStream) return stream(dialect, exchange, request);

  await exchange.generated(request);
  const text = exchange.answer.text(request.tokens);
  exchange.send(200, {
    id: exchange.newId(dialect.idPrefix),
    object: dialect.object,
    created: Math.floor(Date.now() / 1000),
    model: exchange.options.model,
    choices: Array.from({ length: request.choices }, (_, index) => dialect.choice(index, text, request.finishReason)),
    usage: usageOf(request),
    system_fingerprint: FINGERPRINT,
  });
}

async function stream(dialect: Dialect, exchange: Exchange, request: CompletionRequest): Promise<void> {
  const indexes = Array.from({ length: request.choices }, (_, index) => index);
  const head =
    `data: {"id":"${exchange.newId(dialect.idPrefix)}","object":"${dialect.chunkObject}","created":${Math.floor(Date.now() / 1000)},` +
    `"model":${JSON.stringify(exchange.options.model)},"system_fingerprint":"${FINGERPRINT}","choices":[`;
  const tail = request.includeUsage ? '],"usage":null}\n\n' : ']}\n\n';
  const chunk = (choice: string): string => head + choice + tail;

  await exchange.generate(request, (from, to) => {
    if (exchange.response.destroyed) return false;
    let text = '';
    if (from === 0) {
      exchange.metrics.firstToken((performance.now() - exchange.startedAt) / 1000);
      exchange.startStream();
      if (dialect.opening) for (const index of indexes) text += chunk(dialect.opening(index));
    }
    for (let token = from; token < to; token += 1) {
      const piece = exchange.answer.token(token);
      for (const index of indexes) text += chunk(dialect.piece(index, piece));
    }
    if (to < request.tokens) return written(exchange.response, text);

    for (const index of indexes) text += chunk(dialect.closing(index, request.finishReason));
    if (request.includeUsage) text += `${head}],"usage":${JSON.stringify(usageOf(request))}}\n\n`;
    exchange.response.end(`${text}data: [DONE]\n\n`);
    return true;
  });
}

/** Writes, and waits while the reader is slower than the answer. Returns false if the reader has left. */
async function written(response: ServerResponse, text: string): Promise<boolean> {
  if (response.write(text)) return true;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
  return !response.destroyed;
}

function usageOf(request: CompletionRequest): Record<string, number> {
  const completion = request.tokens * request.choices;
  return {
    prompt_tokens: request.promptTokens,
    completion_tokens: completion,
    total_tokens: request.promptTokens + completion,
  };
}
