// The model server and the clients of event-loop.int.spec.ts, in a process of their own so that the measured one runs
// only the gateway. Prints the address of the model server, and then obeys lines of JSON on its standard input.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

const MIB = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const usual = { index: 0, delta: { content: 'a' }, finish_reason: null };
const event = (choice, more = {}) => `data: ${JSON.stringify({ choices: [choice], ...more })}\n\n`;
const whole = (message, more = {}) =>
  JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop', ...more }], usage: { total_tokens: 1 } });
const end = `${event({ ...usual, delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
const nested = (levels) => `${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`;

/** Kinds of costly answers, each as status, content type and text. */
const stream = (text) => [200, 'text/event-stream', text];
const json = (text, status = 200) => [status, 'application/json', text];
const KINDS = {
  'a long event': () => stream(event({ ...usual, delta: { content: 'a'.repeat(8 * MIB) } }) + end),
  'a long event of escapes': () => stream(event({ ...usual, delta: { content: '\u0001'.repeat(2 * MIB) } }) + end),
  'tiny events': () => stream(event(usual).repeat(100_000) + end),
  'tiny lines': () => stream('data\n'.repeat(1_000_000) + '\n' + end),
  comments: () => stream(':\n'.repeat(2_000_000) + end),
  'unknown fields': () => stream('x:y\n'.repeat(1_000_000) + '\n' + end),
  'one line without an end': () => stream(`data: ${'a'.repeat(8 * MIB)}`),
  'log probabilities': () =>
    stream(event({ ...usual, logprobs: { content: Array(40_000).fill({ token: 'a', logprob: -1 }) } }) + end),
  'a long message': () => json(whole({ role: 'assistant', content: 'a'.repeat(16 * MIB) })),
  'a message of escapes': () => json(whole({ role: 'assistant', content: '\u0001'.repeat(2 * MIB) })),
  'many choices': () => json(JSON.stringify({ choices: Array(50_000).fill({ ...usual, message: { content: 'a' } }) })),
  'many members': () =>
    json(whole(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name${index}`, index])))),
  'deep members': () => json(whole({ role: 'assistant', content: 'a', x: Array(2_000).fill(JSON.parse(nested(60))) })),
  nesting: () => json(nested(1_000_000)),
  'a long error': () => json(JSON.stringify({ error: { message: 'model model '.repeat(MIB / 2) } }), 400),
  'an error of many lines': () => [400, 'text/plain', 'the prompt is (\n'.repeat(MIB / 4)],
  'a page': () => [500, 'text/html', `<title>${'<'.repeat(4 * MIB)}`],
};
const texts = new Map();

const server = createServer(async (incoming, response) => {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  const { kind } = JSON.parse(body).metadata ?? {};
  if (kind === undefined)
    return void response.setHeader('content-type', 'application/json').end(whole({ content: 'a' }));
  if (!texts.has(kind))
    texts.set(
      kind,
      KINDS[kind]().map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
    );
  const [status, type, text] = texts.get(kind);
  response.writeHead(status, { 'content-type': type.toString() });
  for (let at = 0; at < text.length && !response.destroyed; at += PIECE_BYTES)
    if (!response.write(text.subarray(at, at + PIECE_BYTES)))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  response.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ url: `http://127.0.0.1:${server.address().port}`, kinds: Object.keys(KINDS) });

const dispatcher = new Agent({ connections: 20 });
async function ask({ url, token, model }, kind) {
  const { body } = await request(`${url}/v1/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [],
      ...(kind && { metadata: { kind }, stream: KINDS[kind]()[1] === 'text/event-stream' }),
    }),
  });
  await body.dump({ limit: Number.POSITIVE_INFINITY }).catch(() => undefined);
}

/** Small requests, 50 a second, for as long as the costly one takes, at least half a second. */
for await (const line of createInterface(process.stdin)) {
  const { kind, ...to } = JSON.parse(line);
  let isOver = false;
  const costly = Promise.all([delay(500), kind ? ask(to, kind) : delay(0)]).then(() => (isOver = true));
  while (!isOver) await Promise.all([ask(to), delay(20)]);
  await costly;
  say({ done: kind ?? null });
}
