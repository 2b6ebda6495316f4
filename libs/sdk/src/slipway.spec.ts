import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { Slipway } from './index.js';

interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>;
}

const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as Document;
/** The expected request of each operation, with its path filled with p1, p2, ... in their order. */
const documented = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [] }]) => {
    let count = 0;
    const filled = path.replace(/\{\w+\}/g, () => `p${(count += 1)}`);
    const isRehearsed = parameters.some(({ name }) => name === 'validate_only');
    return { operationId, request: `${method.toUpperCase()} ${filled}`, isRehearsed };
  }),
);

const isMethod = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === 'function';

/** Returns every method of every resource, by its name: `deployments.rollouts.create`. */
function methodsOf(resource: object, name = ''): [string, (...args: unknown[]) => unknown][] {
  return Object.entries(resource).flatMap(([key, value]) =>
    isMethod(value)
      ? [[`${name}${key}`, value] as [string, typeof value]]
      : methodsOf(value as object, `${name}${key}.`),
  );
}

it('the client reaches every operation of the document, and rehearses each that can be', async () => {
  const requests: Request[] = [];
  const answer = { data: [], next_cursor: null, steps: [], status: 'succeeded', completed_at: 'now' };
  const slipway = new Slipway({
    baseUrl: 'http://slipway.test',
    token: 'slw_a_b',
    fetch: async (url, options) => {
      const request = new Request(url, options);
      requests.push(request);
      if (request.headers.get('accept') !== 'text/event-stream') return Response.json(answer);
      const headers = { 'content-type': 'text/event-stream' };
      const isOfLines = url.toString().includes('/logs');
      return isOfLines
        ? new Response('event: end\ndata: {"reason":"complete"}\n\n', { headers })
        : new Response(null, { status: 204 });
    },
  });
  const reached = new Map<string, string[]>();
  const rehearsed = new Set<string>();
  for (const [name, method] of methodsOf(slipway)) {
    requests.length = 0;
    const called = method('p1', 'p2', 'p3');
    if (Symbol.asyncIterator in (called as object)) for await (const _one of called as AsyncIterable<unknown>);
    else await called;
    expect([name, requests.length > 0]).toEqual([name, true]);
    for (const { url, method: verb } of requests.slice(0, 1)) {
      const { pathname, searchParams } = new URL(url);
      const request = `${verb} ${pathname}`;
      reached.set(request, [...(reached.get(request) ?? []), name]);
      if (searchParams.get('validate_only') === 'true') rehearsed.add(request);
    }
  }
  expect(documented.length).toBeGreaterThan(60);
  const missing = documented.filter(({ request }) => !reached.has(request)).map(({ operationId }) => operationId);
  const unknown = [...reached].filter(([request]) => !documented.some((one) => one.request === request));
  expect({ missing, unknown }).toEqual({ missing: [], unknown: [] });
  const rehearsable = documented.filter(({ isRehearsed }) => isRehearsed).map(({ request }) => request);
  expect([...rehearsed].sort()).toEqual(rehearsable.sort());
});

it('the client accepts only an address of http or https', () => {
  expect(() => new Slipway({ baseUrl: 'ftp://a', token: 'b' })).toThrow('http');
  expect(() => new Slipway({ baseUrl: 'nowhere', token: 'b' })).toThrow('Invalid URL');
});
