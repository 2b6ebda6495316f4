import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import { DEPLOYMENTS, isReady, PODS, SERVICES, TestBed, type Pod } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import type { InstanceSpec } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import { Agent, request, type Dispatcher } from 'undici';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(180_000);
const WITHIN_MS = 90_000;

let bed: TestBed;
let bench: BedBench;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open({ nodes: [{}] });
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (!hasKube) return;
  bench = await BedBench.create(bed);
  bench.setHealthy(true);
});
afterEach(() => bench?.close());

/** Two instances of one revision. Each must be reachable by its own URL. */
const both = (): InstanceSpec[] => {
  const spec = bench.spec();
  return [spec, bench.spec({ instanceId: 'ins_0190cafe', owner: { ...spec.owner!, ordinal: 1 } })];
};
const podOf = async ({ instanceId }: InstanceSpec): Promise<Pod> =>
  (await bed.pods(bench.namespace, `slipway.dev/instance=${instanceId}`)).find(isReady)!;

/** The address of the pod that answers the URL. An engine of the test bed reports the address at which it listens. */
async function answering(baseUrl: string, dispatcher?: Dispatcher): Promise<string | undefined> {
  const { body } = await request(`${baseUrl}/who`, { ...(dispatcher && { dispatcher }) });
  const { argv } = (await body.json()) as { argv: string[] };
  return argv[argv.indexOf('--host') + 1];
}

async function serving(driver: KubernetesDriver, spec: InstanceSpec): Promise<string> {
  await driver.provision(spec);
  return (await observeUntil(driver, spec, 'ready', WITHIN_MS)).baseUrl!;
}

/**
 * The work of a cluster's DNS and proxies: from the name of a Service to the address of a ready pod that it selects.
 */
async function addressBehind(hostname: string): Promise<string> {
  const [, name = '', namespace = ''] = /^([^.]+)\.([^.]+)\.svc$/.exec(hostname) ?? [];
  const { spec } = await bed.client.get(SERVICES, { namespace, name });
  const selector = Object.entries(spec.selector as Record<string, string>).map(([key, value]) => `${key}=${value}`);
  const pods = (await bed.pods(namespace, selector.join(','))).filter(isReady);
  // The request keeps its port, so only the address needs a lookup here.
  for (const { spec: of } of pods)
    for (const { port, targetPort } of spec.ports as { port: number; targetPort: string }[])
      expect(of.containers[0]!.ports).toContainEqual(
        expect.objectContaining({ name: targetPort, containerPort: port }),
      );
  return pods[Math.floor(Math.random() * pods.length)]!.status!.podIP!;
}

const lookup: LookupFunction = (hostname, { all }, done) =>
  void addressBehind(hostname).then(
    (address) => (all ? done(null, [{ address, family: 4 }]) : done(null, address, 4)),
    (error: Error) => done(error, '', 4),
  );

kubeIt(
  'with reach service each instance has a Service of its own while its unit exists, wherever its pod moves',
  async () => {
    const driver = bench.driver({ reach: 'service' });
    const cluster = new Agent({ pipelining: 0, connect: { lookup } });
    const specs = both();
    const urls = await Promise.all(specs.map((spec) => serving(driver, spec)));
    const services = async () => (await bed.client.list(SERVICES, { namespace: bench.namespace })).items;
    // One of each unit, and that of the revision.
    await until(services, (all) => all.length === 3, WITHIN_MS);
    expect(new Set(urls).size).toBe(2);
    for (const [at, spec] of specs.entries())
      for (let time = 0; time < 5; time += 1)
        expect(await answering(urls[at]!, cluster)).toBe((await podOf(spec)).status?.podIP);
    const [spec, url] = [specs[0]!, urls[0]!];
    const before = await podOf(spec);
    await bed.client.remove(PODS, { namespace: bench.namespace, name: before.metadata.name });
    const after = await until(
      () => podOf(spec),
      (pod) => pod !== undefined && pod.metadata.uid !== before.metadata.uid,
      WITHIN_MS,
    );
    expect((await observeUntil(driver, spec, 'ready', WITHIN_MS)).baseUrl).toBe(url);
    expect(await answering(url, cluster)).toBe(after.status?.podIP);
    const unit = new URL(url).hostname.split('.')[0]!;
    await bed.client.remove(DEPLOYMENTS, { namespace: bench.namespace, name: unit });
    await until(services, (all) => all.every(({ metadata }) => metadata.name !== unit), WITHIN_MS);
    await cluster.destroy();
  },
);

kubeIt(
  'with reach url each instance has the URL that the operator routes, and the driver probes it there',
  async () => {
    const ingress = await ingressOf(bed);
    const { port } = ingress.address() as AddressInfo;
    const driver = bench.driver({ reach: { url: `http://127.0.0.1:${port}/{namespace}/{unit}/` } });
    const specs = both();
    const urls = await Promise.all(specs.map((spec) => serving(driver, spec)));
    for (const [at, spec] of specs.entries()) {
      const baseUrl = urls[at]!;
      const { metadata, status } = await podOf(spec);
      const unit = metadata.name.replace(/(-[^-]+){2}$/, '');
      expect(baseUrl).toBe(`http://127.0.0.1:${port}/${bench.namespace}/${unit}`);
      expect(await answering(baseUrl)).toBe(status?.podIP);
      expect(await driver.answers(spec, baseUrl)).toBe(true);
    }
    bench.setHealthy(false);
    expect(await driver.answers(specs[0]!, urls[0]!)).toBe(false);
    ingress.closeAllConnections();
    await new Promise((done) => ingress.close(done));
  },
);

/** An ingress like that of an operator: `/<namespace>/<unit>/…` leads to the pod of that unit. */
async function ingressOf({ client }: TestBed): Promise<Server> {
  const server = createServer((asked, answer) => {
    const [, namespace = '', unit = '', path = ''] = /^\/([^/]+)\/([^/]+)(\/.*)$/.exec(asked.url ?? '') ?? [];
    const pass = async (): Promise<void> => {
      const { items } = await client.list<Pod>(PODS, { namespace });
      const pod = items.find((one) => one.metadata.name.startsWith(`${unit}-`) && isReady(one));
      if (!pod) return void answer.writeHead(503).end();
      const { containerPort } = pod.spec.containers[0]!.ports![0]!;
      const { statusCode, body } = await request(`http://${pod.status!.podIP!}:${containerPort}${path}`);
      answer.writeHead(statusCode).end(await body.text());
    };
    pass().catch(() => answer.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}
