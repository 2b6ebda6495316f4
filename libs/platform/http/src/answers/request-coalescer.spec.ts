import { expect, it } from '@jest/globals';
import { runInRequest } from '../context/request-context.js';
import type { RouteSpec } from '../routes/route-spec.js';
import { RequestCoalescer } from './request-coalescer.js';
import { rawJson, type RawJson } from './reply.js';

/** Returns a function whose answers contain how many it has made. */
function counted(): () => Promise<RawJson> {
  let made = 0;
  return async () => rawJson(`{"made":${(made += 1)}}`);
}

const textsOf = async (answers: Promise<RawJson>[]): Promise<string[]> =>
  (await Promise.all(answers)).map(({ text }) => text);

it('makes one answer for all equal requests of one turn of the event loop', async () => {
  const coalescing = new RequestCoalescer();
  const make = counted();
  const [first, second] = await Promise.all([1, 2].map(() => coalescing.answer('ten_a', ['x', 1], make)));
  expect(second).toBe(first);
  expect(first!.text).toBe('{"made":1}');
});

it('makes an answer after the turn of the event loop, and does not reuse it for later requests', async () => {
  const coalescing = new RequestCoalescer();
  const make = counted();
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let hasBegun!: () => void;
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  let isBegun = false;
  const slow = coalescing.answer('ten_a', ['x'], async () => {
    isBegun = true;
    hasBegun();
    await finished;
    return make();
  });
  await Promise.resolve();
  expect(isBegun).toBe(false);
  await begun;
  const later = coalescing.answer('ten_a', ['x'], make);
  expect((await later).text).toBe('{"made":1}');
  finish();
  expect((await slow).text).toBe('{"made":2}');
});

it('does not share answers between tenants, questions or routes', async () => {
  const coalescing = new RequestCoalescer();
  const make = counted();
  const ask = (tenantId: string, question: unknown[], operationId = 'listThings') =>
    runInRequest({ requestId: 'req', warnings: [], route: { operationId } as RouteSpec }, () =>
      coalescing.answer(tenantId, question, make),
    );
  const answers = [
    ask('ten_a', ['x']),
    ask('ten_b', ['x']),
    ask('ten_a', ['y']),
    ask('ten_a', ['x', null]),
    ask('ten_a', ['x'], 'listOthers'),
  ];
  expect(new Set(await textsOf(answers)).size).toBe(5);
});

it('fails all requests that share a failed answer, and no later one', async () => {
  const coalescing = new RequestCoalescer();
  const fail = () => Promise.reject(new Error('no'));
  const results = await Promise.allSettled([1, 2].map(() => coalescing.answer('ten_a', [], fail)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(coalescing.answer('ten_a', [], counted())).resolves.toMatchObject({ text: '{"made":1}' });
});
