// A tenant that sends too many requests, as a separate process: so the test measures the servers, and not
// one shared event loop. Its parent sends {target} once: it then sends the tenant's allowed load. After
// {times}, it sends that many times as much, and answers {counts: {<attacker>: {<status and code>: n}}}
// of the answers since the previous message.
import { setMaxListeners } from 'node:events';
import { createServer } from 'node:net';
import { kept, paced } from './isolation-requests.mjs';

const MIB = 2 ** 20;

const MODES = ['observe', 'recommend'];
const json = (value) => Buffer.from(JSON.stringify(value));
const chat = (model, content) => json({ model, stream: true, messages: [{ role: 'user', content }] });

/**
 * The actions of the tenant; each attacker acts `times` as much as it may. At `times` 1 they together use exactly the
 * quotas of isolation.e2e.spec.ts.
 */
function attackersOn({ api, gateway, token, model, sandbox, external, receiver }) {
  const toApi = { port: api, token };
  const toGateway = { port: gateway, token, method: 'POST', path: '/v1/chat/completions' };
  const deployments = '/api/v1/deployments';
  const policy = `${deployments}/${model}/continual-optimization/policy`;
  const files = (id) => ({ ...toApi, method: 'PUT', path: `/api/v1/sandboxes/${id}/files` });
  const stream = { ...toApi, path: `${deployments}/${model}/events`, headers: { accept: 'text/event-stream' } };
  const slowFile = {
    ...files(sandbox),
    path: `${files(sandbox).path}?path=slow.bin`,
    type: 'application/octet-stream',
  };
  const bigFile = { ...files(sandbox), body: json({ path: 'big.txt', content: 'x'.repeat(8 * MIB - 64) }) };
  const brackets = Buffer.from('[],'.repeat(MIB / 4));
  const prompt = { ...toGateway, body: chat(model, 'x'.repeat(8 * MIB)) };
  const longPrompt = { ...toGateway, body: chat(model, 'x'.repeat(30 * MIB)) };
  let changes = 0;
  return {
    streams: kept(10, 20_000, () => stream),
    reads: paced(0.5, () => ({ ...toApi, path: deployments })),
    uploads: paced(0.1, () => ({ ...slowFile, body: Buffer.alloc(MIB), stallMs: 2_000 })),
    pushes: paced(0.2, () => ({ ...files(external), body: json({ path: 'a.txt', content: 'text' }) })),
    bodies: paced(0.05, () => bigFile),
    heldBodies: kept(8, 16_000, () => ({ ...bigFile, stallMs: Infinity })),
    brackets: paced(0.1, () => ({ ...toApi, method: 'POST', path: deployments, body: brackets })),
    // Each adds an event for every webhook.
    events: paced(0.25, () => ({ ...toApi, method: 'PUT', path: policy, body: json({ mode: MODES[changes++ % 2] }) })),
    webhooks: paced(0.05, () => ({
      ...toApi,
      method: 'POST',
      path: '/api/v1/webhooks',
      body: json({ url: receiver }),
    })),
    inference: kept(4, 3_200, () => ({ ...toGateway, body: chat(model, 'hello') })),
    prompts: paced(0.1, () => prompt),
    heldPrompts: kept(4, 16_000, () => ({ ...longPrompt, stallMs: Infinity })),
    promptBrackets: paced(0.1, () => ({ ...toGateway, body: brackets })),
  };
}

let target;
let counts = {};
let beyond = new AbortController();

function attack(times) {
  const { signal } = (beyond = new AbortController());
  setMaxListeners(0, signal);
  for (const [name, attacker] of Object.entries(attackersOn(target)))
    attacker.run(times, signal, (answer) => tally(name, answer));
}

function tally(name, answer) {
  const own = (counts[name] ??= {});
  own[answer] = (own[answer] ?? 0) + 1;
}

/**
 * Accepts connections and everything that they send, and never answers: an external sandbox, a receiver of webhooks.
 */
const silent = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    if (/^[A-Z]+ \//.test(chunk.toString('latin1', 0, 16))) tally('silent', chunk.toString('latin1').split(' ', 2)[0]);
  });
});

process.on('message', (told) => {
  if (told.target) {
    target = told.target;
    attack(1);
    beyond = new AbortController();
    return;
  }
  beyond.abort();
  // Requests that were cut just now are counted with the phase that they belong to.
  setImmediate(() => {
    process.send({ counts });
    counts = {};
    if (told.times > 1) attack(told.times - 1);
  });
});
process.once('disconnect', () => process.exit(0));
silent.listen(0, '127.0.0.1', () => process.send({ silent: silent.address().port }));
