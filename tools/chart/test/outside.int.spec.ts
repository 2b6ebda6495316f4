import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { ControlPlane, programs, TestBed } from '@slipway/kube-testbed';
import { childEnvironment, parseOperatorConfig, type TargetConfig } from '@slipway/platform-config';
import { kubernetesTarget } from '@slipway/target-kubernetes';
import { ROOT } from '../src/chart.js';
import { commandBlocks } from './command-blocks.js';
import { kubectlAt } from './kubectl.js';
import { itWith, kubectl } from './programs.js';

jest.setTimeout(240_000);
const it = itWith(kubectl);
const WITHIN_MS = 120_000;
const PAGE = 'docs/guides/kubernetes.md';
/** Longer than the target needs to notice a refusal, and to read its file again. */
const NOTICED_MS = 90_000;

let plane: ControlPlane | undefined;
let bed: TestBed | undefined;
const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-outside-'));
const kubeconfig = path.join(folder, 'slipway.kubeconfig');

beforeAll(async () => {
  if (kubectl === '') return;
  // A cluster of its own, because the page names its namespaces.
  plane = await ControlPlane.start({ bin: programs() });
  bed = await TestBed.open({ access: plane.access, nodes: [{}] });
  symlinkSync(path.join(ROOT, 'deploy'), path.join(folder, 'deploy'));
  await admin('apply', '-f', path.join(ROOT, 'deploy/kubernetes/namespaces.yaml'));
});
afterAll(async () => {
  await bed?.close();
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function admin(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await kubectlAt(kubectl, plane!.access.kubeconfig)(args);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Runs the blocks of a section of the page in one shell. */
async function type(section: string, which = (_text: string) => true): Promise<string> {
  const texts = commandBlocks(PAGE)
    .filter((block) => block.section === section && block.info === '' && which(block.text))
    .map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(0);
  const env = childEnvironment({
    KUBECONFIG: plane!.access.kubeconfig,
    PATH: [path.dirname(kubectl), childEnvironment()['PATH']].join(path.delimiter),
    HOME: folder,
  });
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', texts.join('\n')], { cwd: folder, env, timeout: WITHIN_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (status) => (status === 0 ? resolve(output) : reject(new Error(output))));
  });
}

interface Driver {
  provision(spec: object): Promise<void>;
  observe(spec: object): Promise<{ state: string; message?: string }>;
  terminate(instanceId: string): Promise<'stopping' | 'gone'>;
  health(): { state: string; message?: string };
  close(): Promise<void>;
}

/** The product's driver. The library exports only its kind, as to the worker. */
async function openDriver(): Promise<Driver> {
  const file = JSON.stringify({
    targets: [
      {
        name: 'outside',
        kind: 'kubernetes',
        cluster: { kubeconfig },
        namespaces: { default: 'slipway-models', by_tenant: { acme: 'models-acme' } },
        engines: {
          sim: {
            image: 'test/sim',
            command: ['sim', '--host', '0.0.0.0', '--port', '{port}', '--model', '{model.id}'],
            port: 8000,
            key_env: 'SIM_API_KEY',
          },
        },
      },
    ],
  });
  const [config] = parseOperatorConfig(file, [kubernetesTarget]).targets.filter(({ name }) => name === 'outside');
  const installation = '0192f3a4-1111-7000-8000-00000000aaaa';
  const host = { installation: async () => installation, pausePoint: async () => undefined };
  return kubernetesTarget.createDriver(config as TargetConfig, host as never) as unknown as Driver;
}

const specOf = (instanceId: string, tenantName: string) => ({
  instanceId,
  generation: 1,
  tenantName,
  model: { id: 'sim' },
  runtime: { engine: 'sim', args: {}, env: {} },
  probe: { intervalSeconds: 1, timeoutSeconds: 5, failureThreshold: 3 },
  instanceKey: 'a-key-of-this-generation',
});

async function until<T>(ask: () => T | Promise<T>, isWanted: (answer: T) => boolean, withinMs = WITHIN_MS): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await Promise.resolve(ask());
    if (isWanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms; last: ${JSON.stringify(answer)}`);
    await delay(100);
  }
}

it('a driver works with the kubeconfig of the page, reports a token that is refused, and continues with a new one', async () => {
  const answers = await type('From the Role to a kubeconfig');
  expect(answers.match(/^(?:yes|no)$/gm)).toEqual(['yes', 'yes', 'yes', 'yes', 'yes', 'no']);
  const driver = await openDriver();
  try {
    for (const tenant of ['default', 'acme']) {
      const spec = specOf(`ins_${tenant}`, tenant);
      await driver.provision(spec);
      await until(
        () => driver.observe(spec),
        ({ state }) => state === 'ready',
      );
      const namespace = tenant === 'acme' ? 'models-acme' : 'slipway-models';
      expect(await admin('get', 'deployments', '-n', namespace, '-o', 'name')).toMatch(/^deployment\.apps\/slw-/);
    }
    expect(driver.health()).toEqual({ state: 'ok' });

    // Without its account a token is refused at once, as an expired one is.
    await admin('-n', 'slipway', 'delete', 'serviceaccount', 'slipway-outside');
    const { message } = await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
      NOTICED_MS,
    );
    expect(message).toMatch(/401 Unauthorized .*\(renew the credentials of the target\).*, since /);
    await admin('-n', 'slipway', 'create', 'serviceaccount', 'slipway-outside');
    await type('Renew the token', (text) => text.includes('create token'));
    await until(
      () => driver.health(),
      ({ state }) => state === 'ok',
      NOTICED_MS,
    );

    // The token of a Secret works as well, and the first one is no longer in the file.
    await type('Renew the token', (text) => !text.includes('create token'));
    await delay(1_000);
    for (const tenant of ['default', 'acme'])
      await until(
        () => driver.terminate(`ins_${tenant}`),
        (state) => state === 'gone',
      );
    expect(driver.health()).toEqual({ state: 'ok' });

    // Only stopped units, and what belongs to them, are left, and the commands of the page remove them.
    const mine = [
      'get',
      'deployments,pods,services,poddisruptionbudgets,secrets',
      '-n',
      'slipway-models',
      '-o',
      'name',
    ];
    const left = () => admin(...mine, '-l', 'app.kubernetes.io/managed-by=slipway');
    expect(await left()).toMatch(/^deployment\.apps\/slw-.*\n[^]*secret\/slw-/);
    await type('Clean a namespace', (text) => !text.includes('npx slipway'));
    expect(await left()).toBe('');
  } finally {
    await driver.close();
  }
});
