import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import { PODS, TestBed, workerRules, type GrantedAccess } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { CountingProxy, type ProxyAnswer } from '../../test/counting-proxy.js';
import { engineConfig, INSTALLATION, instanceSpec, targetConfig, until } from '../../test/driver-bench.js';
import { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(400_000);
const WITHIN_MS = 90_000;
const REST_MS = 60_000;
const MOST_AT_REST = 20;
const REFUSED_MS = 15_000;
const MOST_A_SECOND = 3;
const NOTICED_MS = 30_000;
const TENANTS = ['one', 'two', 'three'];

let bed: TestBed;
let granted: GrantedAccess;
let namespaces: [string, string, string];
let proxy: CountingProxy;
let drivers: KubernetesDriver[];
beforeAll(async () => {
  if (!hasKube) return;
  bed = await TestBed.open({ nodes: [{}] });
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (!hasKube) return;
  namespaces = (await Promise.all(TENANTS.map(() => bed.namespace()))) as typeof namespaces;
  granted = await bed.grant(namespaces, workerRules({ writesSecrets: false }));
  proxy = await CountingProxy.start(bed.access);
  drivers = [driver(), driver()];
});
afterEach(async () => {
  await Promise.all((drivers ?? []).splice(0).map((one) => one.close()));
  await proxy?.close();
});

/** A worker's driver with the times of an installation. */
function driver(): KubernetesDriver {
  const [one, two, three] = namespaces;
  const host = { installation: async () => INSTALLATION, pausePoint: async () => undefined };
  const config = targetConfig({
    namespaces: { default: one, by_tenant: { two, three } },
    engines: {
      sim: engineConfig({
        image: 'test/sim',
        command: ['sim', '--host', '0.0.0.0', '--port', '{port}', '--model', 'x'],
      }),
    },
  });
  const made = new KubernetesDriver(config, host, { cluster: proxy.cluster(granted.token) });
  made.onChange(() => undefined);
  return made;
}

const specs = () =>
  TENANTS.map((tenantName, n) =>
    instanceSpec({
      instanceId: `ins_${n}${'0'.repeat(7)}`,
      tenantName,
      owner: { ...instanceSpec().owner!, revisionId: `rev_${n}`, revisionName: `chat-${n}` },
      probe: { intervalSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 },
    }),
  );
/** The worker that leads the target checks all instances; the other one follows the watches. */
async function lead(all: readonly InstanceSpec[]): Promise<void> {
  const leader = drivers[0]!;
  await leader.list().catch(() => undefined);
  for (const spec of all) {
    const { state } = await leader.observe(spec).catch(() => ({ state: 'unknown' }));
    if (state === 'absent') await leader.provision(spec).catch(() => undefined);
  }
}
async function serving(all: readonly InstanceSpec[]): Promise<void> {
  for (const spec of all) await drivers[0]!.provision(spec);
  for (const spec of all) await observeUntil(drivers[0]!, spec, 'ready', WITHIN_MS);
  // Services and budgets are made, and everything is reviewed once.
  await proxy.count(5_000, () => lead(all));
}
const note = (what: string, count: number, ms: number) =>
  process.stderr.write(`${what}: ${count} calls in ${ms / 1_000} s\n`);

kubeIt('two workers on three namespaces send at most 20 calls a minute at rest, all counted', async () => {
  const all = specs();
  await serving(all);
  const calls = await proxy.count(REST_MS, () => lead(all));
  note('at rest', calls, REST_MS);
  expect(calls).toBeLessThanOrEqual(MOST_AT_REST);
  expect(drivers.map((one) => one.health())).toEqual([{ state: 'ok' }, { state: 'ok' }]);
});

const status = (code: number, reason: string) => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', code, reason, message: reason }),
});
const REFUSALS: [string, () => ProxyAnswer][] = [
  ['429', () => status(429, 'TooManyRequests')],
  [
    '429 for an hour',
    () => ({
      ...status(429, 'TooManyRequests'),
      headers: { 'retry-after': '3600', 'content-type': 'application/json' },
    }),
  ],
  [
    '503 until a date of a clock that is an hour ahead',
    () => ({
      status: 503,
      headers: {
        date: new Date(Date.now() + 3_600_000).toUTCString(),
        'retry-after': new Date(Date.now() + 3_605_000).toUTCString(),
      },
      body: '<html>busy</html>',
    }),
  ],
  ['500', () => status(500, 'InternalError')],
  ['401', () => status(401, 'Unauthorized')],
];
for (const [what, answer] of REFUSALS)
  kubeIt(`an API server that answers ${what} gets few calls, and its recovery is noticed`, async () => {
    const all = specs();
    await serving(all);
    proxy.refuse = () => answer();
    proxy.cut();
    const calls = await proxy.count(REFUSED_MS, () => lead(all));
    note(what, calls, REFUSED_MS);
    expect(drivers[0]!.health().state).toBe('degraded');
    expect(calls).toBeLessThanOrEqual((MOST_A_SECOND * REFUSED_MS) / 1_000);
    proxy.refuse = undefined;
    const back = Date.now();
    const before = (await drivers[0]!.observe(all[2]!)).incarnation;
    const [pod] = await bed.pods(namespaces[2]);
    await bed.client.remove(PODS, { namespace: namespaces[2], name: pod!.metadata.name! });
    await until(
      () => drivers[0]!.observe(all[2]!).catch(() => ({ incarnation: before })),
      ({ incarnation }) => incarnation !== before,
      NOTICED_MS + 5_000,
    );
    await until(
      () => drivers.map((one) => one.health().state),
      (states) => states.every((one) => one === 'ok'),
      NOTICED_MS + 5_000,
    );
    note(`${what}, until it is over`, proxy.calls.length, Date.now() - back);
  });

kubeIt('a missing right costs few calls for any number of instances, is named, and is healed', async () => {
  const all = specs();
  await serving(all);
  const waiting = Array.from({ length: 30 }, (_, n) =>
    instanceSpec({ ...all[n % 3], instanceId: `ins_${String(n).padStart(8, '1')}` }),
  );
  const rules = workerRules({ writesSecrets: false });
  await granted.allow(
    rules.map((rule) =>
      rule.resources.includes('deployments')
        ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'create') }
        : rule,
    ),
  );
  await lead(waiting);
  await until(
    () => drivers[0]!.health(),
    ({ message = '' }) => message.includes(`create deployments.apps in namespace ${namespaces[0]}`),
    60_000,
  );
  const calls = await proxy.count(REFUSED_MS, () => lead([...all, ...waiting]));
  note('a missing right', calls, REFUSED_MS);
  expect(calls).toBeLessThanOrEqual((MOST_A_SECOND * REFUSED_MS) / 1_000);
  await granted.allow(rules);
  await until(
    async () => {
      await lead(waiting);
      return drivers[0]!.health();
    },
    ({ state }) => state === 'ok',
    15_000,
  );
  await until(
    async () => {
      await lead(waiting);
      const seen = await Promise.all(waiting.map((spec) => drivers[0]!.observe(spec)));
      return seen.filter(({ state, reason }) => state === 'absent' || reason === 'target_unavailable').length;
    },
    (left) => left === 0,
    60_000,
  );
});
