import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** Sends one answer of an engine. */
export type OddEngine = (response: ServerResponse) => void;

const HTML = '<!doctype html><html><body><h1>Something</h1></body></html>';
const DONE = 'data: [DONE]\n\n';

const completion = (choice: object, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'loaded',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop', ...choice }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  ...more,
});

function whole(status: number, type: string, text: string | Buffer, headers: Record<string, string> = {}): OddEngine {
  return (response) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(text);
  };
}

const json = (status: number, value: unknown, headers?: Record<string, string>): OddEngine =>
  whole(status, 'application/json', JSON.stringify(value), headers);
const html = (status: number, headers?: Record<string, string>): OddEngine => whole(status, 'text/html', HTML, headers);
const error = (message: string, code: unknown = null): object => ({
  error: { message, type: 'api_error', param: null, code },
});
const redirect = (status: number): OddEngine => html(status, { location: 'http://elsewhere.example/v1' });

const chunk = (delta: object, finish: string | null = null, index = 0): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'loaded',
  choices: [{ index, delta, finish_reason: finish }],
});
const event = (value: object, end = '\n\n'): string => `data: ${JSON.stringify(value)}${end}`;
const said = (text = 'hi', index = 0): string => event(chunk({ content: text }, null, index));
const finished = (reason = 'stop', index = 0): string => event(chunk({}, reason, index));
const GOOD = [event(chunk({ role: 'assistant', content: '' })), said(), said('you'), finished()].join('');

const stream = (...parts: string[]): OddEngine => whole(200, 'text/event-stream', parts.join(''));

/** Sends the beginning of an answer and then nothing more, or breaks the connection. */
function begun(type: string, text: string, isBroken: boolean): OddEngine {
  return (response) => {
    response.writeHead(200, { 'content-type': type });
    response.flushHeaders();
    const then = (): void => void (isBroken && response.destroy());
    if (text === '') then();
    else response.write(text, then);
  };
}

function byteByByte(text: string): OddEngine {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(text);
    const next = (at: number): void => {
      if (at === bytes.length) response.end();
      else response.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
    };
    next(0);
  };
}

export const ODD_ENGINES = {
  '401 with an error': json(401, error('Incorrect API key', 'invalid_api_key')),
  '401 with a page': html(401),
  '402 with an error': json(402, error('Insufficient balance')),
  '403 with an error': json(403, error('Forbidden')),
  '403 in plain text': whole(403, 'text/plain', 'RBAC: access denied'),
  '403 of a moderation': json(403, error('Your input was flagged', 'content_filter')),
  '404 with a page': html(404),
  '404 without a body': whole(404, 'text/plain', ''),
  '404 of FastAPI': json(404, { detail: 'Not Found' }),
  '404 of a model, flat': json(404, {
    object: 'error',
    message: 'The model `x` does not exist.',
    type: 'NotFoundError',
    param: null,
    code: 404,
  }),
  '404 of a model, with its code': json(404, error('No such thing', 'model_not_found')),
  '404 of a model to be pulled': json(404, error("model 'x' not found, try pulling it first")),
  'redirect 301': redirect(301),
  'redirect 302': redirect(302),
  'redirect 303': redirect(303),
  'redirect 307': redirect(307),
  'redirect 308': redirect(308),
  'redirect 300 without a location': html(300),
  'status 304': (response) => void response.writeHead(304).end(),
  '400 with an error': json(400, error('Bad value', 'odd')),
  '400 of the context length': json(400, error('Too long', 'context_length_exceeded')),
  '400 as a string': json(400, { error: 'bad' }),
  '400 as a list of errors': json(400, { errors: [{ message: 'bad' }] }),
  '400 in an array': json(400, [error('bad')]),
  '400 in plain text': whole(400, 'text/plain', 'bad'),
  '405 with a page': html(405),
  '413 with an error': json(413, error('Too large')),
  '422 with a list of details': json(422, { detail: [{ loc: ['body'], msg: 'bad', type: 'value_error' }] }),
  '422 with a text of details': json(422, { detail: 'bad' }),
  '408 with an error': json(408, error('Slow')),
  '425 with an error': json(425, error('Early')),
  '429 with a time that is over': json(429, error('Many', 'rate_limit_exceeded'), { 'retry-after': '0' }),
  '429 without a body': whole(429, 'text/plain', ''),
  '429 with a page': html(429),
  '500 with an error': json(500, error('Broken', 500)),
  '500 with a page': html(500),
  '500 without a body': whole(500, 'text/plain', ''),
  '500 in plain text': whole(500, 'text/plain', 'Internal Server Error'),
  '501 with an error': json(501, error('Not supported')),
  '502 with a page': html(502),
  '503 while it loads': json(503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }),
  '503 with a page': html(503),
  '504 with a page': html(504),
  '520 with a page': html(520),

  'error in a 200': json(200, error('Broken')),
  'error as a string in a 200': json(200, { error: 'broken' }),
  'flat error in a 200': json(200, { object: 'error', message: 'broken', type: 'x', code: 500 }),
  'details in a 200': json(200, { detail: 'broken' }),
  'error in an array in a 200': json(200, [error('broken')]),
  'null as the error of a good answer': json(200, completion({}, { error: null })),
  'empty 200': whole(200, 'application/json', ''),
  'blank 200': whole(200, 'application/json', ' \n'),
  'status 204': (response) => void response.writeHead(204).end(),
  'page in a 200': html(200),
  'page in a 200 as JSON': whole(200, 'application/json', HTML),
  'cut JSON': whole(200, 'application/json', JSON.stringify(completion({})).slice(0, -20)),
  'JSON with a tail': whole(200, 'application/json', `${JSON.stringify(completion({}))}}`),
  'a JSON string': whole(200, 'application/json', '"hi"'),
  'a JSON null': whole(200, 'application/json', 'null'),
  'JSON after a byte order mark': whole(200, 'application/json', `\ufeff${JSON.stringify(completion({}))}`),
  'compressed JSON': whole(200, 'application/json', gzipSync(JSON.stringify(completion({}))), {
    'content-encoding': 'gzip',
  }),
  'JSON in an unknown encoding': whole(200, 'application/json', brotliCompressSync('{}'), { 'content-encoding': 'x' }),
  'null content': json(200, completion({ message: { role: 'assistant', content: null } })),
  'null content with a tool call': json(
    200,
    completion({
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    }),
  ),
  'an answer that ended with an error': json(200, completion({ finish_reason: 'error' })),
  'an answer that was aborted': json(200, completion({ finish_reason: 'abort' })),
  'events as JSON': whole(200, 'application/json', GOOD + DONE),

  'a good stream': stream(GOOD, DONE),
  'a stream without a terminator': stream(GOOD),
  'a stream without a reason to finish': stream(said(), DONE),
  'a stream that just ends': stream(said(), said()),
  'an empty stream': stream(),
  'a stream of comments': stream(': ping\n\n', ': ping\n\n'),
  'a stream of null content': stream(event(chunk({ role: 'assistant', content: null })), finished(), DONE),
  'an error as the first event': stream(event(error('Broken'))),
  'an error with an event name': stream(`event: error\n${event(error('Broken'))}`),
  'an error in a field of its own': stream(`error: ${JSON.stringify({ code: 500, message: 'Broken' })}\n\n`),
  'an error in mid-stream': stream(said(), event(error('Broken'))),
  'an error in mid-stream, then a terminator': stream(said(), event(error('Broken')), DONE),
  'an error in a field of its own in mid-stream': stream(said(), 'error: {"code":500,"message":"Broken"}\n\n'),
  'a stream that ended with an error': stream(said(), finished('error'), DONE),
  'a stream that was aborted': stream(said(), finished('abort')),
  'two choices, one unfinished': stream(said('a', 0), said('b', 1), finished('stop', 0)),
  'two choices, both finished': stream(said('a', 0), said('b', 1), finished('stop', 1), finished('length', 0)),
  'an empty reason to finish': stream(event(chunk({ content: 'hi' }, '')), finished(), DONE),
  'only an empty reason to finish': stream(event(chunk({ content: 'hi' }, ''))),
  'usage after the end': stream(GOOD, event({ ...chunk({}), choices: [], usage: { prompt_tokens: 1 } }), DONE),
  'events with CRLF': stream((GOOD + DONE).replaceAll('\n', '\r\n')),
  'events with CR': stream((GOOD + DONE).replaceAll('\n', '\r')),
  'events without a space': stream((GOOD + DONE).replaceAll('data: ', 'data:')),
  'events in several lines': stream(GOOD.replaceAll('"choices"', '\ndata: "choices"'), DONE),
  'events after a byte order mark': stream('\ufeff', GOOD, DONE),
  'events with names, ids and comments': stream(': a\n\nid: 1\nretry: 10\nevent: message\n', GOOD, ': b\n\n', DONE),
  'events byte by byte': byteByByte(GOOD + DONE),
  'an event that cannot be read': stream(said(), 'data: {"choices":\n\n', finished(), DONE),
  'a page as a stream': whole(200, 'text/event-stream', HTML),
  'JSON as a stream': whole(200, 'text/event-stream', JSON.stringify(completion({}))),

  'a stream that breaks': begun('text/event-stream', said(), true),
  'JSON that breaks': begun('application/json', '{"choices":[', true),
  'a head that breaks': begun('application/json', '', true),
  'no head': () => undefined,
  'nothing after the head': begun('application/json', '', false),
  'nothing after the head of a stream': begun('text/event-stream', '', false),
  'nothing after the first event': begun('text/event-stream', said(), false),
  'nothing after half of the JSON': begun('application/json', '{"choices":[', false),
  'a closed connection': (response) => void response.socket?.destroy(),
} satisfies Record<string, OddEngine>;
