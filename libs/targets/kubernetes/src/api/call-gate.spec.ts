import { describe, expect, it } from '@jest/globals';
import { CallGate } from './call-gate.js';
import { ApiError, UnreachableError, type ApiCall } from './errors.js';
import { RetryBudget } from './retry-budget.js';

const call = (more: Partial<ApiCall> = {}): ApiCall => ({
  verb: 'list',
  resource: 'pods',
  group: '',
  namespace: 'models',
  ...more,
});
const refusal = (status: number, message: string, about = call(), retryAfterSeconds?: number) =>
  new ApiError(about, status, { kind: 'Status', reason: 'x', message }, retryAfterSeconds);
const away = new UnreachableError('https://x', 'ECONNREFUSED', 'nothing listens');
const NO_RIGHT = 'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods" in API group ""';
const FULL = 'services "slw-other" is forbidden: exceeded quota: objects, requested: count/services=1';

/** A gate whose time passes only with `wait`. */
function bench() {
  let now = 1_000_000;
  const budget = new RetryBudget(() => now);
  const gate = new CallGate('https://x', budget, () => 0);
  /** Tries each call twice a second for some seconds, and returns how many were sent. */
  const sent = (calls: readonly ApiCall[], seconds: number, fail: (one: ApiCall) => unknown) => {
    let count = 0;
    for (let at = 0; at < seconds * 2; at += 1) {
      for (const one of calls) {
        let isRetry: boolean;
        try {
          isRetry = gate.pass(one);
        } catch {
          continue;
        }
        count += 1;
        const error = fail(one);
        if (error === undefined) gate.succeeded(one, isRetry);
        else gate.failed(one, error, isRetry);
      }
      now += 500;
    }
    return count;
  };
  return { budget, gate, sent, wait: (ms: number) => void (now += ms) };
}

const many = Array.from({ length: 400 }, (_, n) => call({ namespace: `models-${n % 40}`, resource: `kind-${n % 10}` }));

describe('calls after failures', () => {
  it.each<[string, (one: ApiCall) => unknown]>([
    ['429', (one) => refusal(429, 'too many requests', one)],
    ['429 with a time', (one) => refusal(429, 'too many requests', one, 3_600)],
    ['500', (one) => refusal(500, 'etcd', one)],
    ['503 as a page', (one) => new ApiError(one, 503, undefined)],
    ['401', (one) => refusal(401, 'Unauthorized', one)],
    ['a missing right', (one) => refusal(403, NO_RIGHT, one)],
    ['a proxy that refuses', (one) => new ApiError(one, 403, undefined)],
    ['a server that is away', () => away],
    ['a page instead of an answer', () => new UnreachableError('https://x', 'INVALID_ANSWER', 'not JSON')],
  ])('are few after %s, for any number of namespaces and kinds', (_what, fail) => {
    const { sent } = bench();
    // The first ones show the trouble.
    expect(sent(many, 1, fail)).toBeLessThanOrEqual(20);
    expect(sent(many, 30, fail)).toBeLessThanOrEqual(35);
  });

  it('of objects that a quota refuses are few, for any number of them', () => {
    const { sent } = bench();
    const units = many.map((one, n) => ({ ...one, verb: 'create', namespace: 'models', name: `slw-${n}` }));
    sent(units, 1, (one) => refusal(403, FULL, one));
    expect(sent(units, 30, (one) => refusal(403, FULL, one))).toBeLessThanOrEqual(35);
  });

  it('are not limited for other rights, objects and namespaces', () => {
    const { gate, sent } = bench();
    const bad = call({ namespace: 'other' });
    const good = call();
    sent([good], 0.5, () => undefined);
    sent([bad], 20, (one) => refusal(403, NO_RIGHT, one));
    for (let n = 0; n < 100; n += 1) expect(gate.pass(good)).toBe(false);
  });

  it('of a webhook that does not answer do not stop other calls', () => {
    const { gate, budget, sent } = bench();
    const words = 'Internal error occurred: failed calling webhook "x": context deadline exceeded';
    sent([call({ verb: 'create', name: 'a' })], 30, (one) => refusal(500, words, one));
    expect([budget.isServerInTrouble, gate.pass(call())]).toEqual([false, false]);
  });

  it('show the last refusal, without names of other objects', () => {
    const { gate } = bench();
    const one = call({ verb: 'patch', resource: 'services', name: 'slw-mine' });
    const other = { ...one, name: 'slw-other' };
    const words = 'services "slw-other" is forbidden: User "x" cannot patch resource "services"';
    for (let n = 0; n < 2; n += 1) gate.failed(other, refusal(403, words, other), true);
    expect(() => gate.pass(one)).toThrow(/403 x for patch services slw-mine.*: User "x" cannot patch resource/);
    expect(() => gate.pass(one)).not.toThrow(/slw-other/);
  });

  it('are all sent again within seconds after the return of the server', () => {
    const { sent, gate } = bench();
    sent(many, 30, () => away);
    sent(many, 8, () => undefined);
    for (const one of many) expect(gate.pass(one)).toBe(false);
  });

  it('wait for as long as the server says, and not longer than half a minute', () => {
    const { gate, wait } = bench();
    gate.failed(call(), refusal(429, 'busy', call(), 12), false);
    wait(11_900);
    expect(() => gate.pass(call())).toThrow('429');
    wait(200);
    expect(gate.pass(call())).toBe(true);
    gate.failed(call(), refusal(429, 'busy', call(), 3_600), true);
    wait(29_900);
    expect(() => gate.pass(call())).toThrow('429');
    wait(200);
    expect(gate.pass(call())).toBe(true);
  });

  it('need not wait if the cause of the refusal is over', () => {
    const { gate, sent, wait } = bench();
    sent([call()], 30, (one) => refusal(403, NO_RIGHT, one));
    wait(5_000);
    gate.failed(call(), refusal(403, NO_RIGHT), true);
    expect(() => gate.pass(call())).toThrow('403');
    gate.reopen(({ namespace }) => namespace === 'models');
    expect(gate.pass(call())).toBe(true);
  });

  it('of several clients of one server share its budget', () => {
    const [one, two] = [RetryBudget.share('https://s'), RetryBudget.share('https://s')];
    expect(one).toBe(two);
    RetryBudget.release('https://s');
    expect(RetryBudget.share('https://s')).toBe(one);
    for (let n = 0; n < 2; n += 1) RetryBudget.release('https://s');
    expect(RetryBudget.share('https://s')).not.toBe(one);
    RetryBudget.release('https://s');
  });
});
