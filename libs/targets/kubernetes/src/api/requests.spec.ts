import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { ApiError, UnreachableError } from './errors.js';
import { DEPLOYMENTS, INFERENCE_POOLS, PODS, SECRETS, SERVICES } from './kinds.js';
import type { Deployment, KubeObject, Pod, Service } from './objects.js';
import { KubeApi } from './requests.js';

const NS = 'models';
let stub: StubApi;
let api: KubeApi;

beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster(), { callTimeoutMs: 2_000 });
});
afterEach(async () => {
  await api.close();
  await stub.close();
});

function unit(name: string, more: Partial<Deployment['spec']> = {}): Deployment {
  const labels = { app: name };
  return {
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'engine', image: 'test/sim' }] } },
      ...more,
    },
  };
}

const service = (port: number): Service => ({
  metadata: { name: 'r1' },
  spec: { clusterIP: 'None', ports: [{ port }] },
});

async function thrown<E extends Error>(type: new (...args: any[]) => E, run: Promise<unknown>): Promise<E> {
  const error = await run.then(
    () => new Error('nothing was thrown'),
    (reason: Error) => reason,
  );
  expect(error).toBeInstanceOf(type);
  return error as E;
}

describe('objects', () => {
  it('are created once, with strict validation, and arrive without managedFields', async () => {
    const made = await api.create<Deployment>(DEPLOYMENTS, NS, unit('u1'));
    expect(made).toMatchObject({
      kind: 'Deployment',
      metadata: { name: 'u1', namespace: NS, uid: expect.any(String) },
    });
    expect(made.metadata.managedFields).toBeUndefined();
    expect(stub.requests[0]).toMatchObject({
      verb: 'create',
      query: { fieldManager: 'slipway', fieldValidation: 'Strict' },
      body: { apiVersion: 'apps/v1', kind: 'Deployment' },
    });
    const again = await thrown(ApiError, api.create(DEPLOYMENTS, NS, unit('u1')));
    expect(again).toMatchObject({ status: 409, reason: 'AlreadyExists', isRetryable: false });
    expect(stub.requests).toHaveLength(2);
  });

  it('with an unknown field are a 400, and with a wrong value a 422 that names it', async () => {
    const typo = await thrown(ApiError, api.create(DEPLOYMENTS, NS, unit('u1', { replcias: 1 })));
    expect(typo).toMatchObject({ status: 400, message: expect.stringContaining('unknown field "spec.replcias"') });
    const wrong = await thrown(ApiError, api.create(DEPLOYMENTS, NS, unit('u1', { selector: undefined })));
    expect(wrong).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(wrong.details.causes?.[0]?.field).toBe('spec.selector');
  });

  it('exist or are undefined; a 404 page is not the answer of an API server', async () => {
    await api.create(DEPLOYMENTS, NS, unit('u1'));
    expect((await api.get<Deployment>(DEPLOYMENTS, NS, 'u1'))?.spec?.replicas).toBe(1);
    expect(await api.get(DEPLOYMENTS, NS, 'u2')).toBeUndefined();
    stub.odd({ verb: 'get' }, { body: '404 page not found', code: 404, contentType: 'text/plain' });
    const error = await thrown(ApiError, api.get(DEPLOYMENTS, NS, 'u1'));
    expect(error).toMatchObject({ status: 404, reason: '', isNotFound: false });
  });

  it('of another name are not an answer', async () => {
    stub.store.put(DEPLOYMENTS, { ...unit('u9'), metadata: { name: 'u9', namespace: NS } });
    const other = JSON.stringify(stub.store.get(DEPLOYMENTS, NS, 'u9'));
    stub.odd({ verb: 'get' }, { body: other });
    expect(await thrown(UnreachableError, api.get(DEPLOYMENTS, NS, 'u1'))).toMatchObject({ code: 'INVALID_ANSWER' });
  });

  it('are applied: fields that the manager leaves out are removed, and those of others stay', async () => {
    const ours = { manager: 'slipway', force: true };
    const first = await api.apply<Service>(SERVICES, NS, service(8000), ours);
    expect(first.spec?.ports).toEqual([{ port: 8000 }]);
    stub.store.change(SERVICES, NS, 'r1', ({ metadata }) => void (metadata.annotations = { by: 'somebody' }));
    const second = await api.apply<Service>(
      SERVICES,
      NS,
      { metadata: { name: 'r1' }, spec: { clusterIP: 'None' } },
      ours,
    );
    expect(second.spec).toEqual({ clusterIP: 'None' });
    expect(second.metadata.annotations).toEqual({ by: 'somebody' });
    const { resourceVersion } = second.metadata;
    const third = await api.apply<Service>(
      SERVICES,
      NS,
      { metadata: { name: 'r1' }, spec: { clusterIP: 'None' } },
      ours,
    );
    expect(third.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('are stopped by an apply, which creates no missing object', async () => {
    const stop = (name: string) =>
      api.apply<Deployment>(
        DEPLOYMENTS,
        NS,
        { metadata: { name, annotations: { 'slipway.dev/stopped-at': 'now' } }, spec: { replicas: 0 } },
        { manager: 'slipway-stop', force: true },
      );
    const made = await api.create<Deployment>(DEPLOYMENTS, NS, unit('u1'));
    const stopped = await stop('u1');
    expect(stopped).toMatchObject({
      spec: { replicas: 0, template: made.spec?.template },
      metadata: { generation: 2 },
    });
    expect(await thrown(ApiError, stop('u2'))).toMatchObject({ status: 422 });
    expect(stub.store.list(DEPLOYMENTS, NS)).toHaveLength(1);
  });

  it('conflict if another manager owns a field and the call does not force', async () => {
    await api.create(DEPLOYMENTS, NS, unit('u1'));
    const taken = api.apply(
      DEPLOYMENTS,
      NS,
      { metadata: { name: 'u1' }, spec: { replicas: 3 } },
      { manager: 'm', force: false },
    );
    expect(await thrown(ApiError, taken)).toMatchObject({ status: 409, reason: 'Conflict', isRetryable: true });
  });

  it('are deleted by uid, and a new object of the same name stays', async () => {
    const { metadata } = await api.create(DEPLOYMENTS, NS, unit('u1'));
    await api.delete(DEPLOYMENTS, NS, 'u1', { uid: 'another' });
    expect(stub.store.list(DEPLOYMENTS)).toHaveLength(1);
    await api.delete(DEPLOYMENTS, NS, 'u1', { uid: metadata.uid, graceSeconds: 5 });
    await api.delete(DEPLOYMENTS, NS, 'u1', { uid: metadata.uid });
    await api.delete(DEPLOYMENTS, NS, 'u1');
    expect(stub.store.list(DEPLOYMENTS)).toEqual([]);
    expect(stub.requests[2]?.body).toMatchObject({ preconditions: { uid: metadata.uid }, gracePeriodSeconds: 5 });
  });

  it('whose deletion is refused do not count as deleted', async () => {
    await api.create(DEPLOYMENTS, NS, unit('u1'));
    stub.forbid({ verb: 'delete' });
    expect(await thrown(ApiError, api.delete(DEPLOYMENTS, NS, 'u1', { uid: 'x' }))).toMatchObject({
      status: 403,
      reason: 'Forbidden',
      call: { verb: 'delete', resource: 'deployments', group: 'apps', namespace: NS, name: 'u1' },
      message: expect.stringContaining(
        'for delete deployments.apps u1 in namespace models (allow this verb in the Role',
      ),
    });
  });

  it.each(['../../secrets', 'a/b', 'A', '', 'a'.repeat(254), 'x?y=z'])('cannot have the name %j', async (name) => {
    await thrown(RangeError, api.get(PODS, NS, name));
    await thrown(RangeError, api.list(PODS, name === '' ? 'B' : name));
    expect(stub.requests).toEqual([]);
  });
});

describe('lists', () => {
  const fill = (count: number): void => {
    for (let n = 0; n < count; n += 1)
      stub.store.put<Pod>(PODS, { metadata: { name: `p${n}`, namespace: NS, labels: { n: String(n % 2) } } });
  };

  it('have pages of 500, include all objects by their labels, and show one moment', async () => {
    fill(1_201);
    const { items, resourceVersion } = await api.list<Pod>(PODS, NS);
    expect(new Set(items.map(({ metadata }) => metadata.name)).size).toBe(1_201);
    expect(resourceVersion).toBe(stub.store.version);
    expect(items.every(({ metadata }) => !('managedFields' in metadata))).toBe(true);
    expect(stub.requests.map(({ query }) => [query.limit, query.resourceVersion])).toEqual(
      Array.from({ length: 3 }, () => ['500', undefined]),
    );
    expect((await api.list(PODS, NS, { labelSelector: 'n=1' })).items).toHaveLength(600);
    expect((await api.list(PODS, NS, { limit: 1 })).items).toHaveLength(1);
  });

  it('whose next page has expired start again', async () => {
    fill(600);
    const remove = stub.odd({ verb: 'list' }, { slowMs: 0 }, 1);
    stub.odd({ verb: 'list' }, { status: 410 }, 1);
    expect((await api.list(PODS, NS)).items).toHaveLength(600);
    expect(stub.requests.map(({ query }) => query.continue === undefined)).toEqual([true, false, true, false]);
    remove();
    stub.odd({ verb: 'list' }, { status: 410 });
    expect(await thrown(ApiError, api.list(PODS, NS))).toMatchObject({ isExpired: true });
    expect(stub.requests).toHaveLength(4 + 3);
  });

  it('that never end, or are not lists, are errors', async () => {
    const metadata = { resourceVersion: '7', continue: 'again' };
    const stop = stub.odd({ verb: 'list' }, { body: JSON.stringify({ metadata, items: [] }) });
    expect(await thrown(UnreachableError, api.list(PODS, NS))).toMatchObject({ code: 'INVALID_ANSWER' });
    expect(stub.requests).toHaveLength(2);
    stop();
    for (const body of ['{}', '[]', 'null', '7', '{"items":[{}],"metadata":{"resourceVersion":"1"}}', '{"items":{}}']) {
      stub.odd({ verb: 'list' }, { body }, 1);
      expect(await thrown(UnreachableError, api.list(PODS, NS))).toMatchObject({ code: 'INVALID_ANSWER' });
    }
  });
});

it('a type is known or unknown by the list of its group', async () => {
  expect(await Promise.all([PODS, INFERENCE_POOLS].map((kind) => api.knows(kind)))).toEqual([true, true]);
  const installed = stub.lacks(INFERENCE_POOLS);
  expect(await api.knows(INFERENCE_POOLS)).toBe(false);
  installed();
  const others = JSON.stringify({ resources: [{ name: 'inferencepoolimports' }, null] });
  stub.odd({ plural: 'types' }, { body: others }, 1);
  expect(await api.knows(INFERENCE_POOLS)).toBe(false);
  // A refusal does not show that the type is missing.
  stub.odd({ plural: 'types' }, { status: 403 }, 1);
  expect(await api.knows(INFERENCE_POOLS)).toBe(true);
  for (const body of ['{}', '[]', 'null', '{"resources":{}}']) {
    stub.odd({ plural: 'types' }, { body }, 1);
    expect(await thrown(UnreachableError, api.knows(INFERENCE_POOLS))).toMatchObject({ code: 'INVALID_ANSWER' });
  }
});

describe('a server that is away, busy or not an API server', () => {
  const get = (): Promise<KubeObject | undefined> => api.get(PODS, NS, 'p');

  it('is an UnreachableError with the code of the cause', async () => {
    stub.odd({}, { silent: true }, 1);
    const quick = new KubeApi(stub.cluster(), { callTimeoutMs: 200 });
    expect(await thrown(UnreachableError, quick.get(PODS, NS, 'p'))).toMatchObject({
      code: 'TIMEOUT',
      isRetryable: true,
    });
    await quick.close();
    stub.odd({}, { body: '<html>Sign in</html>' }, 1);
    expect(await thrown(UnreachableError, get())).toMatchObject({ code: 'INVALID_ANSWER' });
    stub.odd({}, { cut: true }, 2);
    expect(await thrown(UnreachableError, get())).toMatchObject({ code: 'UND_ERR_SOCKET' });
    const { url } = stub;
    await stub.close();
    const next = new KubeApi({ ...stub.cluster(), server: url });
    const gone = await thrown(UnreachableError, next.get(PODS, NS, 'p'));
    await next.close();
    expect(gone).toMatchObject({ code: 'ECONNREFUSED', message: expect.stringContaining(url) });
    stub = await startStubApi();
  });

  it('gets the call again after the cut of a kept connection, but not a create', async () => {
    stub.odd({}, { cut: true }, 1);
    expect(await get()).toBeUndefined();
    stub.odd({}, { cut: true }, 1);
    await thrown(UnreachableError, api.create(DEPLOYMENTS, NS, unit('u1')));
    expect(stub.requests.map(({ verb }) => verb)).toEqual(['get', 'get', 'create']);
  });

  it('gets the pause that it requests, within a limit', async () => {
    stub.odd({}, { status: 429, retryAfterSeconds: 1 }, 1);
    const startedAt = Date.now();
    await api.create(DEPLOYMENTS, NS, unit('u1'));
    expect(Date.now() - startedAt).toBeGreaterThan(950);
    expect(stub.requests).toHaveLength(2);
    const stop = stub.odd({}, { status: 429, retryAfterSeconds: 60 });
    const refusedAt = Date.now();
    const refused = await thrown(ApiError, get());
    expect(Date.now() - refusedAt).toBeLessThan(30_000);
    expect(refused).toMatchObject({ reason: 'TooManyRequests', isRetryable: true, retryAfterSeconds: 60 });
    expect(stub.requests).toHaveLength(3);
    stop();
    stub.odd({}, { status: 429, retryAfterSeconds: 1 });
    const quickAt = Date.now();
    expect(await thrown(ApiError, get())).toMatchObject({ status: 429 });
    expect(Date.now() - quickAt).toBeLessThan(4_000);
  });

  it('that answers 500 gets no second call, but the caller may repeat it', async () => {
    stub.odd({}, { status: 500 }, 1);
    expect(await thrown(ApiError, get())).toMatchObject({ status: 500, isRetryable: true });
    stub.odd({}, { body: 'upstream connect error', code: 502, contentType: 'text/plain' }, 1);
    expect(await thrown(ApiError, get())).toMatchObject({ status: 502, reason: '', isRetryable: true });
    expect(stub.requests).toHaveLength(2);
  });

  it('whose answer does not end is cut off', async () => {
    const small = new KubeApi(stub.cluster(), { maxAnswerBytes: 1024 * 1024 });
    const stop = stub.odd({}, { endless: true });
    expect(await thrown(UnreachableError, small.get(PODS, NS, 'p'))).toMatchObject({ code: 'TOO_LARGE' });
    stop();
    expect(await small.get(PODS, NS, 'p')).toBeUndefined();
    await small.close();
  });

  it('that redirects is not followed', async () => {
    stub.odd({}, { body: '', code: 302 });
    expect(await thrown(ApiError, get())).toMatchObject({ status: 302 });
    expect(stub.requests).toHaveLength(1);
  });
});

describe('calls', () => {
  it('run 20 at a time on 16 connections, in order, and too many waiting ones fail as busy', async () => {
    const busy = new KubeApi(stub.cluster(), { maxWaiting: 50 });
    stub.odd({}, { slowMs: 100 });
    const calls = Array.from({ length: 71 }, () =>
      busy.get(PODS, NS, 'p').then(
        () => 'done',
        (error) => error.code,
      ),
    );
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter((one) => one === 'done')).toHaveLength(70);
    expect(outcomes.filter((one) => one === 'BUSY')).toHaveLength(1);
    expect(stub.sockets.opened).toBe(16);
    await busy.close();
  });

  it('wait within their time limit', async () => {
    const quick = new KubeApi(stub.cluster(), { callTimeoutMs: 300 });
    stub.odd({}, { silent: true });
    const startedAt = Date.now();
    const calls = Array.from({ length: 60 }, () =>
      quick.get(PODS, NS, 'p').catch((error: UnreachableError) => error.code),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['TIMEOUT']));
    // A call may take 30 s by default.
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    await quick.close();
  });

  it('in flight end when the client is closed', async () => {
    stub.odd({}, { silent: true });
    const call = thrown(UnreachableError, api.get(PODS, NS, 'p'));
    while (stub.requests.length === 0) await new Promise((done) => setTimeout(done, 5));
    await api.close();
    expect(await call).toMatchObject({ code: 'CLOSED' });
  });

  it('check what the Role allows', async () => {
    const allow = stub.forbid({ verb: 'delete', plural: 'secrets', namespace: NS });
    const rule = { group: '', resource: SECRETS.plural, verb: 'delete' };
    expect([await api.review(NS, rule), await api.review('other', rule)]).toEqual([false, true]);
    expect(await api.review(NS, { group: '', resource: 'pods', subresource: 'log', verb: 'get' })).toBe(true);
    expect(stub.requests.at(-1)?.body.spec.resourceAttributes).toEqual({
      group: '',
      namespace: NS,
      resource: 'pods',
      subresource: 'log',
      verb: 'get',
    });
    allow();
    expect(await api.review(NS, rule)).toBe(true);
  });

  it('return the version', async () => {
    expect(await api.version()).toBe('v1.36.4-stub');
  });
});

describe('a refused token', () => {
  it('is read again once, and the call is repeated, even a create', async () => {
    await stub.close();
    stub = await startStubApi({ tokens: new Set(['new']) });
    let token = 'old';
    let renewals = 0;
    const cluster = {
      ...stub.cluster(),
      authorization: async () => `Bearer ${token}`,
      forget: () => {
        renewals += 1;
        token = 'new';
      },
    };
    const renewing = new KubeApi(cluster);
    expect((await renewing.create(DEPLOYMENTS, NS, unit('u1'))).metadata.name).toBe('u1');
    await renewing.close();
    const hopeless = new KubeApi({ ...cluster, authorization: async () => 'Bearer wrong' });
    expect(await thrown(ApiError, hopeless.list(PODS, NS))).toMatchObject({ status: 401 });
    expect([renewals, stub.requests.length]).toEqual([3, 4]);
    await hopeless.close();
  });
});

describe('logs', () => {
  beforeEach(async () => {
    await stub.close();
    stub = await startStubApi({ log: (_pod, query) => (query.follow ? drip() : ['one\n', 'two\n', 'three\n']) });
    stub.store.put(PODS, { metadata: { name: 'p1', namespace: NS } });
    api = new KubeApi(stub.cluster());
  });

  async function* drip(): AsyncGenerator<string> {
    for (let n = 0; ; n += 1) {
      yield `line ${n}\n`;
      await new Promise((done) => setTimeout(done, 5));
    }
  }

  const textOf = async (pieces: AsyncIterable<Buffer>): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const piece of pieces) chunks.push(piece);
    return Buffer.concat(chunks).toString();
  };

  it('are read with the requested options', async () => {
    const options = {
      container: 'engine',
      tailLines: 5,
      previous: true,
      sinceTime: '2026-01-01T00:00:00Z',
      timestamps: true,
    };
    expect(await textOf(await api.log(NS, 'p1', options))).toBe('one\ntwo\nthree\n');
    expect(stub.requests[0]).toMatchObject({
      verb: 'log',
      name: 'p1',
      query: { container: 'engine', tailLines: '5', previous: 'true', timestamps: 'true', limitBytes: '10485760' },
    });
    expect(await textOf(await api.log(NS, 'p1', { limitBytes: 6 }))).toBe('one\ntw');
    expect(await thrown(ApiError, api.log(NS, 'p2'))).toMatchObject({ isNotFound: true });
  });

  it('are followed until the signal, and then no connection is left', async () => {
    const stop = new AbortController();
    let text = '';
    for await (const piece of await api.log(NS, 'p1', { follow: true, signal: stop.signal })) {
      text += piece.toString();
      if (text.includes('line 5')) stop.abort();
    }
    expect(text).toContain('line 4\nline 5\n');
    for (let n = 0; n < 100 && stub.sockets.open > 0; n += 1) await new Promise((done) => setTimeout(done, 10));
    expect(stub.sockets.open).toBe(0);
  });

  it('that do not end have a time limit unless they are followed', async () => {
    await api.close();
    await stub.close();
    const never = (): AsyncGenerator<string> =>
      (async function* () {
        yield 'one\n';
        await new Promise((done) => setTimeout(done, 60_000).unref());
      })();
    stub = await startStubApi({ log: never });
    stub.store.put(PODS, { metadata: { name: 'p1', namespace: NS } });
    api = new KubeApi(stub.cluster(), { callTimeoutMs: 150 });
    expect(await thrown(UnreachableError, api.log(NS, 'p1').then(textOf))).toMatchObject({ code: 'TIMEOUT' });
    // Opened without a reader.
    await api.log(NS, 'p1');
    expect(stub.sockets.logs).toBe(1);
    for (let n = 0; n < 100 && stub.sockets.logs > 0; n += 1) await new Promise((done) => setTimeout(done, 10));
    expect(stub.sockets.logs).toBe(0);
    const stop = new AbortController();
    const followed = api.log(NS, 'p1', { follow: true, signal: stop.signal }).then(textOf);
    const outcome = Promise.race([followed, new Promise((done) => setTimeout(done, 600, 'goes on'))]);
    expect(await outcome).toBe('goes on');
    stop.abort();
    expect(await followed).toBe('one\n');
  });

  it('whose connection breaks are an error', async () => {
    const read = async () => {
      for await (const piece of await api.log(NS, 'p1', { follow: true }))
        if (piece.toString().includes('line 3')) await stub.close();
    };
    await thrown(UnreachableError, read());
    stub = await startStubApi();
  });
});
