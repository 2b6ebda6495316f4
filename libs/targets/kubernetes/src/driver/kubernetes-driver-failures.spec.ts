import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObservationReason } from '@slipway/contracts';
import type { LogLine, LogOptions } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import {
  DriverBench,
  engineConfig,
  INSTALLATION,
  instanceSpec,
  NAMESPACE,
  targetConfig,
  until,
} from '../../test/driver-bench.js';
import { condition, engine, QUOTA, scheduled, WEBHOOK } from '../../test/pod-rows.js';
import { deploymentOf } from '../../test/target-fixture.js';
import { DEPLOYMENTS, PODS } from '../api/kinds.js';
import type { Deployment, Pod, PodStatus } from '../api/objects.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

const KEY = 'Ab1'.repeat(14) + 'Z';
const keyed = { engines: { sim: engineConfig({ env: { SIM_KEY: '{instance_key}' } }) } };

let bench: DriverBench;
let driver: KubernetesDriver;
beforeEach(async () => {
  bench = await DriverBench.create();
  driver = bench.driver();
});
afterEach(async () => {
  await bench.close();
});

const spec = instanceSpec();
const onlyPod = () => bench.cluster.api.store.list<Pod>(PODS, NAMESPACE)[0]!;
const untilStarted = () =>
  until(
    () => bench.cluster.started.get(spec.instanceId),
    (count) => count === 1,
  );
const reasonIs = (reason: ObservationReason) =>
  until(
    () => driver.observe(spec),
    (seen) => seen.reason === reason,
  );
const options = (more: Partial<LogOptions> = {}): LogOptions => ({
  tail: 200,
  stream: 'both',
  previous: false,
  follow: false,
  signal: AbortSignal.timeout(20_000),
  ...more,
});
async function textsOf(lines: AsyncIterable<LogLine>): Promise<string[]> {
  const found: string[] = [];
  for await (const { text } of lines) found.push(text);
  return found;
}

describe('a failed start', () => {
  it('because of a quota shows the words of the server, and continues by itself when the quota is raised', async () => {
    bench.cluster.isHealthy = true;
    bench.cluster.refusal = QUOTA;
    await driver.provision(spec);
    expect(await reasonIs('quota_exceeded')).toMatchObject({ state: 'starting', message: QUOTA });
    bench.cluster.refusal = undefined;
    bench.cluster.reconcile();
    await observeUntil(driver, spec, 'ready');
  });

  const waiting = (reason: string, message: string): PodStatus => ({
    phase: 'Pending',
    conditions: [scheduled],
    ...engine({ state: { waiting: { reason, message } } }),
  });
  it.each<[ObservationReason, PodStatus]>([
    ['image_pull_failed', waiting('ErrImagePull', 'not found')],
    ['config_error', waiting('CreateContainerConfigError', 'secret "hf" not found')],
    [
      'unschedulable',
      {
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message: '9 GPUs' })],
      },
    ],
  ])('because of %s is starting with that reason', async (reason, fixed) => {
    bench.cluster.fixed = fixed;
    await driver.provision(spec);
    expect(await reasonIs(reason)).toMatchObject({ state: 'starting', generation: 1 });
  });

  it.each([
    [403, WEBHOOK, 'admission_denied'],
    [403, 'deployments.apps "x" is forbidden: exceeded quota: objects', 'quota_exceeded'],
    [422, 'Deployment.apps "x" is invalid: spec.template: Required value', 'invalid_template'],
    [400, 'strict decoding error: unknown field "spec.template.spec.contianers"', 'invalid_template'],
  ])('because of a refusal %d of the unit itself has a reason: %s', async (status, message, reason) => {
    bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status, message, reason: 'Forbidden' });
    await expect(driver.provision(spec)).rejects.toMatchObject({ name: 'UnitRefusedError', reason });
  });

  it.each([
    [404, 'NotFound', `namespaces "${NAMESPACE}" not found`, 'does not exist on the cluster: create it'],
    [
      403,
      'Forbidden',
      `deployments.apps "x" is forbidden: unable to create new content in namespace ${NAMESPACE} because it is being terminated`,
      'is being deleted, and the cluster creates nothing in it: create it again',
    ],
  ])('because of its namespace names the key of the file: %d %s', async (status, reason, message, words) => {
    const details = { kind: 'namespaces', name: NAMESPACE };
    bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status, message, reason, details });
    const refused = driver.provision(instanceSpec({ tenantName: 'acme' }));
    await expect(refused).rejects.toMatchObject({
      name: 'UnitRefusedError',
      reason: 'config_error',
      message: expect.stringMatching(
        new RegExp(`^namespace ${NAMESPACE} ${words} .*, or correct namespaces\\.default of target "\\w+"$`),
      ),
    });
  });

  it.each([
    ['somebody else made', {}],
    ['another installation made', { 'slipway.dev/installation': '7a0ef0a4-1111-4222-8333-444455556666' }],
  ])('because of a name that %s is reported, and changes nothing', async (_who, changed) => {
    // The instance's own pods do not matter here.
    bench.cluster.refusal = 'no pods';
    const { metadata, ...rest } = deploymentOf(spec, targetConfig(), { installation: INSTALLATION });
    const labels = Object.keys(changed).length === 0 ? {} : { ...metadata.labels, ...changed };
    const foreign = bench.cluster.api.store.put<Deployment>(DEPLOYMENTS, {
      ...rest,
      metadata: { ...metadata, labels },
    });
    await expect(driver.provision(spec)).rejects.toMatchObject({
      name: 'UnitNameTakenError',
      message: expect.stringContaining(`${metadata.name} already exists in namespace ${NAMESPACE}`),
    });
    expect(bench.cluster.api.store.get(DEPLOYMENTS, NAMESPACE, metadata.name)?.metadata.uid).toBe(foreign.metadata.uid);
    bench.cluster.api.store.remove(DEPLOYMENTS, NAMESPACE, metadata.name);
    await driver.provision(spec);
    expect(bench.cluster.api.store.get(DEPLOYMENTS, NAMESPACE, metadata.name)?.metadata.labels).toEqual(
      metadata.labels,
    );
  });

  it('because of a missing right is reported as a problem of the target', async () => {
    const allow = bench.cluster.api.forbid({ verb: 'create', plural: 'deployments' });
    await expect(driver.provision(spec)).rejects.toMatchObject({ reason: 'target_unavailable' });
    const { message } = await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
    );
    expect(message).toContain('create deployments.apps in namespace models');
    allow();
    await driver.provision(spec);
  });

  it('because of crashes has the code and the last lines of each life, without its key', async () => {
    driver = bench.driver(keyed);
    const mine = instanceSpec({ instanceKey: KEY });
    await driver.provision(mine);
    await untilStarted();
    const first = await driver.observe(mine);
    const { name, uid = '' } = onlyPod().metadata;
    const line = (text: string) => `2026-03-01T10:00:00.000000001Z ${text}`;
    bench.cluster.output.set(`${name}/previous`, [
      line('loading'),
      line(`started with ${KEY}`),
      line('ValueError: odd'),
    ]);
    await bench.cluster.crash(uid, { exitCode: 3, reason: 'Error' });
    const again = await until(
      () => driver.observe(mine),
      ({ incarnation, failure }) => incarnation !== first.incarnation && failure !== undefined,
    );
    expect(again).toMatchObject({
      state: 'starting',
      restarts: 1,
      lastExit: { code: 3, reason: 'exited' },
      failure: {
        exit_code: 3,
        log_tail: ['loading', 'started with [redacted]', 'ValueError: odd'],
        line: 'ValueError: odd',
      },
    });
    bench.cluster.api.forgetRequests();
    for (let time = 0; time < 10; time += 1) await driver.observe(mine);
    expect(bench.cluster.api.requests.filter(({ verb }) => verb === 'log')).toEqual([]);
  });

  /** The engine has ended with these words of the kubelet, and waits to be started again. */
  async function looping(words: string): Promise<string> {
    const ended = { exitCode: 1, reason: 'Error', message: words, finishedAt: '2026-03-01T10:00:00Z' };
    const waits = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } };
    bench.cluster.fixed = {
      phase: 'Running',
      conditions: [scheduled],
      ...engine({ restartCount: 1, state: waits, lastState: { terminated: ended } }),
    };
    driver = bench.driver(keyed);
    await driver.provision(keyedSpec);
    const [pod] = await until(
      () => bench.cluster.api.store.list<Pod>(PODS, NAMESPACE),
      ({ length }) => length === 1,
    );
    return pod!.metadata.name;
  }
  const keyedSpec = instanceSpec({ instanceKey: KEY });
  const untilLooping = () =>
    until(
      () => driver.observe(keyedSpec),
      ({ reason, failure }) => reason === 'crash_loop' && failure !== undefined,
    );

  it('because of an argument names it, although a usage text follows that the kubelet cuts', async () => {
    const usage = Array.from({ length: 300 }, (_, number) => `  --option-${number} TEXT   one of many options`);
    const output = [`started with ${KEY}`, 'error: unknown argument: --foo', 'usage: server [options]', ...usage];
    const name = await looping(Buffer.from(output.join('\n')).subarray(-2_048).toString());
    bench.cluster.output.set(
      `${name}/previous`,
      output.map((text, number) => `2026-03-01T10:00:00.${String(number).padStart(9, '0')}Z ${text}`),
    );
    const seen = await untilLooping();
    expect(seen).toMatchObject({
      message: 'the engine ended with code 1: error: unknown argument: --foo',
      failure: {
        cause: 'bad_argument',
        line: 'error: unknown argument: --foo',
        remediation: expect.stringContaining('runtime.args of the revision'),
      },
    });
    expect(seen.failure!.log_tail.slice(0, 2)).toEqual(['error: unknown argument: --foo', 'usage: server [options]']);
  });

  it('shows the words of the kubelet without secrets if the output cannot be read', async () => {
    bench.cluster.api.forbid({ verb: 'log' });
    await looping(`loading\nValueError: wrong key ${KEY}\n`);
    expect((await untilLooping()).message).toBe('the engine ended with code 1: ValueError: wrong key [redacted]');
  });

  it('because of missing memory has the reason of the kubelet, and names the limit and what sets it', async () => {
    driver = bench.driver({ engines: { sim: engineConfig({ resources: { limits: { memory: '512Mi' } } }) } });
    await driver.provision(spec);
    await untilStarted();
    await bench.cluster.crash(onlyPod().metadata.uid!, { exitCode: 137, reason: 'OOMKilled' });
    const seen = await until(
      () => driver.observe(spec),
      ({ failure, restarts }) => failure !== undefined && restarts === 1,
    );
    expect(seen).toMatchObject({
      lastExit: { reason: 'out_of_memory' },
      failure: {
        cause: 'out_of_memory',
        exit_code: 137,
        remediation: expect.stringMatching(
          /^Container engine has a memory limit of 512Mi\. Raise resources\.memory_mb of the revision/,
        ),
      },
    });
  });

  it('is reported even if its output cannot be read', async () => {
    bench.cluster.api.forbid({ verb: 'log' });
    await driver.provision(spec);
    await untilStarted();
    await bench.cluster.crash(onlyPod().metadata.uid!, { exitCode: 2, reason: 'Error' });
    const seen = await until(
      () => driver.observe(spec),
      ({ failure }) => failure !== undefined,
    );
    expect(seen.failure).toMatchObject({ exit_code: 2, log_tail: [] });
  });
});

describe('the output of an instance', () => {
  it('is that of its newest pod or of its previous life, and of no other instance', async () => {
    bench.cluster.isHealthy = true;
    driver = bench.driver(keyed);
    const mine = instanceSpec({ instanceKey: KEY });
    await driver.provision(mine);
    await observeUntil(driver, mine, 'ready');
    const { name } = onlyPod().metadata;
    const lines = Array.from(
      { length: 300 },
      (_, number) => `2026-03-01T10:00:00.${String(number).padStart(9, '0')}Z line ${number}`,
    );
    bench.cluster.output.set(name, [...lines, `2026-03-01T10:00:01Z key ${KEY}`]);
    bench.cluster.output.set(`${name}/previous`, ['2026-03-01T09:00:00Z before']);
    const shown = await textsOf(driver.logs(mine.instanceId, options()));
    expect(shown).toHaveLength(200);
    expect(shown.at(-1)).toBe('key [redacted]');
    expect(await textsOf(driver.logs(mine.instanceId, options({ previous: true })))).toEqual(['before']);
    expect(await textsOf(driver.logs('ins_nobody', options()))).toEqual([]);
    expect(await textsOf(driver.logs('../pods', options()))).toEqual([]);
    const stranger = bench.driver({}, {}, '7a0ef0a4-1111-4222-8333-444455556666');
    expect(await textsOf(stranger.logs(mine.instanceId, options()))).toEqual([]);
  });
});
