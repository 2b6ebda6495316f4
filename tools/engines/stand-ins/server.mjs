import { createServer } from 'node:http';

const PATHS = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
  '/v1/rerank': 'rerank',
  '/rerank': 'rerank',
};

/**
 * Serves the engine's answers for its state: `loading`, `ready` or `exiting`. `running` counts the requests in
 * progress. An engine that loads at its first request awaits `onFirst` before the answer.
 */
export function serve(engine, state) {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    void answer(engine, state, request, response).catch((error) => response.destroy(error));
  });
  // The default of uvicorn.
  server.keepAliveTimeout = 5_000;
  return server;
}

async function answer(engine, state, request, response) {
  const path = request.url.split('?')[0];
  const body = await bodyOf(request);
  const send = (status, content) => {
    const isText = typeof content === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? content : JSON.stringify(content));
  };
  if (state.phase === 'loading' && engine.loading === 'hangs') return;
  if (state.phase === 'loading' && engine.loading === '503') return send(503, engine.loadingAnswer);
  if (isRefused(engine, state, request, path)) return send(401, errorOf(engine, 401, 'Invalid API Key'));
  if (Object.hasOwn(engine.health, path)) {
    if (state.phase === 'ready') return send(200, engine.health[path]);
    return send(503, engine.unhealthy ?? '');
  }
  if (path === '/v1/models' && engine.models) return send(200, engine.models(state));
  if (state.phase === 'loading') return send(503, errorOf(engine, 503, 'not ready'));
  const text = engine.metrics?.[path]?.(state);
  if (text) return send(200, `${text}\n`);
  if (engine.info?.[path]) return send(200, engine.info[path](state));
  const kind = PATHS[path];
  if (!served(engine, state).includes(kind)) return send(404, errorOf(engine, 404, 'Not Found'));
  // vLLM and SGLang accept no new requests while they drain.
  if (state.phase === 'exiting') return send(503, errorOf(engine, 503, 'shutting down'));
  await infer(engine, state, { kind, body, send, response });
}

async function infer(engine, state, { kind, body, send, response }) {
  const name = body?.model ?? (engine.needsNoModel ? state.names[0] : '');
  const isKnown = state.names.includes(name);
  const unknown = typeof engine.unknown === 'function' ? engine.unknown(state) : engine.unknown;
  if (!isKnown && unknown === 'rejects') {
    const { status, body: refusal } = engine.refusal(name);
    return send(status, refusal);
  }
  await state.onFirst?.();
  const isEcho = unknown === 'echoes' || engine.echoing?.includes(kind);
  const model = isEcho || (isKnown && unknown === 'rejects') ? name : state.names[0];
  state.running += 1;
  response.on('close', () => (state.running -= 1));
  if (body?.stream) return stream(state, { model, body, response });
  send(200, ANSWERS[kind](model, body));
}

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const ANSWERS = {
  chat: (model) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'ready' }, finish_reason: 'stop' }],
    usage,
  }),
  completions: (model) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    model,
    choices: [{ index: 0, text: 'ready' }],
    usage,
  }),
  responses: (model) => ({ id: 'resp_1', object: 'response', model, output: [{ type: 'message', content: [] }] }),
  embeddings: (model, { input }) => ({
    object: 'list',
    model,
    data: [input].flat().map((_text, index) => ({ object: 'embedding', index, embedding: [0.1, 0.2, 0.3] })),
  }),
  rerank: (model, { documents = [], texts }) =>
    texts?.map((_text, index) => ({ index, score: 0.5 })) ?? {
      model,
      results: documents.map((_text, index) => ({ index, relevance_score: 0.5 })),
    },
};

/** A stream for the user `until-exit` lasts at least until the engine begins to exit. */
async function stream(state, { model, body, response }) {
  const { chunks = 3, chunk_ms: pauseMs = 5 } = state.behaviour;
  const isLasting = () => body.user === 'until-exit' && state.phase !== 'exiting';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (content) =>
    response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', model, ...content })}\n\n`);
  for (let index = 0; (index < chunks || isLasting()) && !response.destroyed; index += 1) {
    event({ choices: [{ index: 0, delta: { content: `word${index} ` }, finish_reason: null }] });
    await new Promise((next) => setTimeout(next, pauseMs));
  }
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  if (body.stream_options?.include_usage) event({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

function isRefused({ key }, { args, env }, request, path) {
  const secret = key && (args[key.arg] ?? env[key.env]);
  return Boolean(secret) && key.guards.test(path) && request.headers.authorization !== `Bearer ${secret}`;
}

function served({ serves, servesWith = {} }, { args, behaviour }) {
  const more = Object.entries(servesWith).flatMap(([arg, kind]) => (args[arg] ? [kind] : []));
  return [...(behaviour.serves ?? serves), ...more];
}

/** The error has one of three forms: nested as in OpenAI's API, flat, or plain text. */
function errorOf({ errors = 'nested' }, status, message) {
  if (errors === 'flat') return { object: 'error', message, code: status };
  if (errors === 'text') return { error: message, error_type: 'Validation' };
  return { error: { message, type: 'invalid_request_error', code: status } };
}

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
