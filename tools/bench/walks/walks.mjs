// Counts and lists the files that run for one warm request: node tools/bench/walks/walks.mjs [workspace]
// The figures are in docs/architecture.md.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../../..'));
const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-walks-'));
const hook = path.join(import.meta.dirname, 'hook.mjs');
const stack = spawn(process.execPath, [path.join(root, 'tools/quickstart/dist/start.js')], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, SLIPWAY_HOME: folder, SLIPWAY_WALKS: folder, NODE_OPTIONS: `--import ${hook}` },
});
const text = (name) => readFileSync(path.join(folder, name), 'utf8');
const until = async (name, isTrue, seconds = 120) => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    const found = await isTrue();
    if (found) return found;
  }
  throw new Error(`${name}: not within ${seconds} s`);
};

let output = '';
stack.stdout.on('data', (chunk) => (output += chunk));
try {
  await until('the stack', () => output.includes('slipway ready'));
  const [api, gateway] = ['api', 'gateway'].map(
    (name) => new RegExp(`${name}[^\\n]*?(http://[\\d.:]+)`).exec(output)?.[1],
  );
  const token = text('bootstrap-token').trim();
  const call = async (method, url, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(60_000);
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body), signal });
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const v1 = `${api}/api/v1`;
  const rollOut = (seed) =>
    call('POST', `${v1}/deployments/chat/rollouts`, {
      spec: { model: { id: 'tiny' }, runtime: { target: 'local', engine: 'sim', args: { seed } } },
      strategy: { type: 'immediate' },
    });
  const read = (id) => call('GET', `${v1}/operations/${id}`);
  const ended = ({ operation }) => until('the rollout', async () => (await read(operation.id)).status === 'succeeded');
  const ask = () =>
    call('POST', `${gateway}/v1/chat/completions`, {
      model: 'chat',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 4,
    });

  const counted = async (name, app, work) => {
    rmSync(path.join(folder, `${app}.counting`), { force: true });
    rmSync(path.join(folder, `${app}.files`), { force: true });
    process.kill(Number(text(`${app}.pid`)), 'SIGUSR2');
    await until('counting', () => existsSync(path.join(folder, `${app}.counting`)));
    const result = await work();
    process.kill(Number(text(`${app}.pid`)), 'SIGUSR2');
    await until('the files', () => existsSync(path.join(folder, `${app}.files`)));
    await sleep(50);
    const files = JSON.parse(text(`${app}.files`));
    console.log(`\n${name}: ${files.length} files`);
    for (const file of files) console.log(`  ${file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}`);
    return result;
  };

  await call('POST', `${v1}/deployments`, { name: 'chat' });
  for (const seed of [1, 2, 3]) await ended(await rollOut(seed));
  for (let asked = 0; asked < 20; asked++) await ask();
  const operation = await counted('POST rollouts', 'api', () => rollOut(4));
  await ended(operation);
  for (let asked = 0; asked < 5; asked++) await read(operation.operation.id);
  await counted('GET an operation', 'api', () => read(operation.operation.id));
  await counted('one request through the gateway', 'gateway', ask);
  await counted('the steps of a rollout in the worker', 'worker', async () => ended(await rollOut(5)));
} finally {
  stack.kill('SIGTERM');
  await new Promise((resolve) => stack.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true });
}
