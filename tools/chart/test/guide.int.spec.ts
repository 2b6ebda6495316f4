import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it as always, jest } from '@jest/globals';
import { ControlPlane, programs, TestBed } from '@slipway/kube-testbed';
import { childEnvironment } from '@slipway/platform-config';
import { ROOT } from '../src/chart.js';
import { commandBlocks } from './command-blocks.js';
import { kubectlAt } from './kubectl.js';
import { helm, itWith, kubectl, psql } from './programs.js';
import { StandIns } from './stand-ins.js';
import { makeVolumes } from './volumes.js';

jest.setTimeout(1_200_000);
const it = itWith(helm, kubectl, psql);
const LIMIT_MS = 1_000_000;
const PAGE = 'docs/guides/kubernetes.md';
const blocks = commandBlocks(PAGE);
const CLEANING = 'Clean a namespace';
/** Needs of a block that the test bed cannot meet; every other block is run. */
const REASONS =
  /^no-run: (?:needs Docker\b|the simulated nodes of our tests do not forward ports\b|compiles Kubernetes; a test|needs the two processes above)/;
const CHAT = `curl -sf http://127.0.0.1:7080/v1/chat/completions -H "authorization: Bearer $SLIPWAY_TOKEN" \
  -H 'content-type: application/json' -d '{"model": "pods", "messages": [{"role": "user", "content": "still there?"}]}'`;

let plane: ControlPlane | undefined;
let bed: TestBed | undefined;
const standIns = new StandIns();
const ports = { api: 0, gateway: 0 };
const folder = path.join(standIns.folder, 'reader');

beforeAll(async () => {
  if (helm === '' || kubectl === '' || psql === '') return;
  // A cluster of its own, because the page names its namespaces.
  plane = await ControlPlane.start({ bin: programs() });
  // A process may need a minute for its start on a busy machine: its startup probe allows 150 periods of two seconds.
  const pace = { graceSecondMs: 100, probeSecondMs: 400 };
  bed = await TestBed.open({ access: plane.access, nodes: [{}, {}], images: standIns.images(), pace });
  await makeVolumes(plane.access.kubeconfig, 1);
  standIns.follow(bed, 'slipway');
  for (const component of ['api', 'gateway'] as const) ports[component] = await standIns.forward(component);
  // The paths of the page are those of a clone.
  mkdirSync(folder);
  for (const name of ['deploy', 'tools', 'node_modules', 'package.json'])
    symlinkSync(path.join(ROOT, name), path.join(folder, name));
});
afterAll(async () => {
  await bed?.close();
  await standIns.close();
  await plane?.stop();
});

/** Only the ports differ from the page, because another stack may use the original ones. */
const onOurPorts = (text: string): string =>
  text
    .replaceAll('127.0.0.1:7070', `127.0.0.1:${ports.api}`)
    .replaceAll('127.0.0.1:7080', `127.0.0.1:${ports.gateway}`);

/** Runs the lines in one shell, as a reader would; the first line that fails ends it. */
function type(texts: string[]): Promise<{ status: number | null; output: string }> {
  const script = texts.map((text, index) => `echo "--- block ${index + 1}"\n${onOurPorts(text)}`).join('\n');
  const folders = [path.dirname(helm), path.dirname(process.execPath), childEnvironment()['PATH']];
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: childEnvironment({
        KUBECONFIG: plane!.access.kubeconfig,
        PATH: folders.join(path.delimiter),
        HOME: folder,
        NODE_OPTIONS: undefined,
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });
}

/** Restarts of containers in a namespace, and what its pods wrote last, for a failure. */
async function describePods(namespace: string): Promise<{ restarts: number; text: string }> {
  const run = kubectlAt(kubectl, plane!.access.kubeconfig);
  const restarts = await run([
    ...['get', 'pods', '-n', namespace],
    ...['-o', 'jsonpath={.items[*].status.containerStatuses[*].restartCount}'],
  ]);
  const pods = await run(['get', 'pods', '-A', '-o', 'wide']);
  const logs = await run([
    'logs',
    '-n',
    namespace,
    '-l',
    'app.kubernetes.io/name=slipway',
    '--all-containers',
    '--prefix',
    '--tail=5',
  ]);
  return {
    restarts: restarts.stdout.split(' ').reduce((sum, one) => sum + Number(one), 0),
    text: `${pods.stdout}\n${logs.stdout}${logs.stderr}`,
  };
}

always('the page marks only blocks that need Docker, forwarded ports or a build of Kubernetes as not run', () => {
  const skipped = blocks.filter(({ info }) => info !== '');
  expect(skipped.map(({ info }) => info).filter((info) => !REASONS.test(info))).toEqual([]);
  expect(skipped).toHaveLength(4);
  expect(blocks.length).toBeGreaterThan(6);
});

it('the commands of the page install the chart without a value, serve a model in a pod, upgrade, roll back, drain a node and clean up', async () => {
  const run = blocks.filter(({ info }) => info === '');
  const shown = run.filter(({ section }) => section !== CLEANING).map(({ text }) => text);
  const [install, ...rest] = shown;
  const installed = await type([install!]);
  const { restarts, text } = await describePods('slipway');
  expect([installed, text]).toEqual([expect.objectContaining({ status: 0 }), expect.anything()]);
  // Processes wait for the first migration instead of crashing until it is over.
  expect([restarts, text]).toEqual([0, text]);
  const { status, output } = await type(rest);
  if (status !== 0) throw new Error(`${output}\n${(await describePods('slipway')).text}`);
  expect(output).toMatch(/"model":"sim"|simulated/);
  expect(output).toContain('Rollback was a success');
  expect(output).toMatch(/node\/\S+ drained/);

  // Rights of the account outside of the cluster: in both namespaces, and in no other.
  expect(output.match(/^(?:yes|no)$/gm)).toEqual(['yes', 'yes', 'yes', 'yes', 'yes', 'no']);

  const token = rest.find((one) => one.includes('export SLIPWAY_TOKEN'))!;
  await delay(1_000);
  const after = await type([token, `until ${CHAT}; do sleep 1; done`]);
  expect(after).toEqual({ status: 0, output: expect.stringContaining('choices') });

  const cleaned = await type([token, ...run.filter(({ section }) => section === CLEANING).map(({ text }) => text)]);
  expect(cleaned).toEqual({
    status: 0,
    output: expect.stringMatching(/deployment\.apps "slw-\S+" (?:force )?deleted/),
  });
  const left = await kubectlAt(
    kubectl,
    plane!.access.kubeconfig,
  )([
    ...['get', 'deployments,pods,services,poddisruptionbudgets,secrets', '-n', 'slipway-models', '-o', 'name'],
    ...['-l', 'app.kubernetes.io/managed-by=slipway'],
  ]);
  expect(left).toEqual({ status: 0, stdout: '', stderr: expect.anything() });
});
