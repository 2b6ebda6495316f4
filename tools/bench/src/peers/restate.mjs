// Restate: a handler of five steps, called by its server, which stores them in its own log. Arguments after the
// database: addresses of its ingress and of its admin API, and the port of the handler.
import * as restate from '@restatedev/restate-sdk';
import { begun, ended, rest, serve } from './engine.mjs';

// Its SDK requires this function, which exists from Node 22; Node 20 does not have it.
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const [ingress, admin, port] = rest;
const json = { 'content-type': 'application/json' };
const bench = restate.service({
  name: 'bench',
  handlers: {
    operation: async (context, key) => {
      for (const name of ['one', 'two', 'three', 'four', 'five']) await context.run(name, async () => begun(key));
    },
  },
});
await restate.serve({ services: [bench], port: Number(port), logger: () => undefined });
await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
// A call waits for the end of the operation, so only the number of callers limits the concurrency.
serve((key) => post(`${ingress}/bench/operation`, key).then(() => ended(key)));

async function post(url, body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
