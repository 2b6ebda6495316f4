// A tenant within its limits that sends one kind of request at a high concurrency, as a separate process: so the test
// measures the servers, and not one shared event loop. Its parent sends {pattern, target} to begin and {} to end, and
// gets {counts: {<status and code>: n}}.
import { setMaxListeners } from 'node:events';
import { kept } from './isolation-requests.mjs';

const json = (value) => Buffer.from(JSON.stringify(value));

/** Requests that are sent again at once, however they were answered. */
const AGAIN_MS = 10;
let sent = 0;

const PATTERNS = {
  /** The largest pages, with many tokens. */
  audit: ({ api, tokens }) =>
    kept(100, AGAIN_MS, () => ({ ...api, token: tokens[sent++ % tokens.length], path: '/api/v1/audit?limit=200' })),
  /** Changes that wait for the lock of one row. */
  patches: ({ api, deployment }) =>
    kept(100, AGAIN_MS, () => ({
      ...api,
      method: 'PATCH',
      path: `/api/v1/deployments/${deployment}`,
      body: json({ display_name: `Changed ${sent++}` }),
    })),
  /** Event streams that read their whole backlog, and then begin again. */
  streams: ({ api, deployment }) =>
    kept(60, AGAIN_MS, () => ({
      ...api,
      path: `/api/v1/deployments/${deployment}/events`,
      headers: { accept: 'text/event-stream' },
      mostBytes: 100_000,
    })),
  /** Filters that fit no row, and some that fit many. */
  filters: ({ api }) => {
    const paths = [
      '/api/v1/audit?limit=200&action=deployment.update&actor=token:none&resource_name=none',
      '/api/v1/deployments?limit=200&label=team%3Dnone',
      '/api/v1/operations?limit=200&resource_name=none',
      '/api/v1/audit?limit=200&resource_type=deployment&action=deployment.update',
    ];
    return kept(80, AGAIN_MS, () => ({ ...api, path: paths[sent++ % paths.length] }));
  },
  /** Changes of many resources: each starts durable work in the worker. */
  rollouts: ({ api, rolledOut, baseUrl }) =>
    kept(60, AGAIN_MS, () => {
      const number = sent++;
      return {
        ...api,
        method: 'POST',
        path: `/api/v1/deployments/${rolledOut[number % rolledOut.length]}/rollouts`,
        body: json({
          spec: { model: { id: `m-${number}` }, runtime: { target: 'adopted' }, endpoint: { base_url: baseUrl } },
          strategy: { type: 'immediate' },
          keep_previous_seconds: 0,
        }),
      };
    }),
  /** Files that replace each other. */
  uploads: ({ api, sandbox }) => {
    const body = json({ path: 'a.txt', content: 'x'.repeat(900_000) });
    return kept(30, AGAIN_MS, () => ({ ...api, method: 'PUT', path: `/api/v1/sandboxes/${sandbox}/files`, body }));
  },
};

let running = new AbortController();
let counts = {};

process.on('message', ({ pattern, target }) => {
  running.abort();
  if (pattern === undefined) {
    // Requests that were cut just now are counted too.
    setImmediate(() => {
      process.send({ counts });
      counts = {};
    });
    return;
  }
  const { signal } = (running = new AbortController());
  setMaxListeners(0, signal);
  PATTERNS[pattern](target).run(1, signal, (answer) => (counts[answer] = (counts[answer] ?? 0) + 1));
});
process.once('disconnect', () => process.exit(0));
