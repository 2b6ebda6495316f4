import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { freePort } from '@slipway/platform-database/testing';
import { complaintsAbout, readPage, type PageStep, type StepOutput } from './page.js';
import { isInstalled, SHELL_NAMES, typeInto, type ShellName } from './typing-shell.js';

jest.setTimeout(1_200_000);

/** llama.cpp's own server, built by `node tools/llamacpp/build.mjs`; `.ci/nightly` sets it. */
const LLAMA_SERVER = process.env['SLIPWAY_TEST_LLAMA_SERVER'];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = (file: string) => ({ file, ...readPage(file, readFileSync(path.join(root, file), 'utf8')) });

/** The pages whose commands are typed here, in the order in which a newcomer reads them, each in a separate shell. */
const pages = [
  'README.md',
  'docs/get-started/install.md',
  'docs/get-started/first-model-server.md',
  'docs/get-started/first-canary.md',
  'docs/get-started/first-rollback.md',
  'docs/api.md',
  ...['canaries', 'scaling', 'adoption', 'model-apis', 'sandboxes', 'webhooks'].map((name) => `docs/guides/${name}.md`),
].map(page);
const tour = pages.find(({ file }) => file === 'docs/api.md')!;
/** Typed twice: a reader may run its lines again in the same stack. */
const readme = pages.find(({ file }) => file === 'README.md')!;
/** The configuration of all pages. */
const [config] = pages.find(({ file }) => file === 'docs/get-started/first-model-server.md')!.yaml;

/** Text that the output of a page must contain, in addition to the success of every line. */
const RESULTS: Record<string, RegExp> = {
  'README.md': /llama is a simulated model[\s\S]*rollback\.completed/,
  'docs/get-started/first-model-server.md': /llama is a simulated model/,
  'docs/get-started/first-canary.md': /exit status 3[\s\S]*shop-00002=100/,
  'docs/get-started/first-rollback.md': /TARGETS +news-00001=100/,
};

let folder: string;
let ports: { api: number; gateway: number; simulator: number };

beforeEach(async () => {
  // Paths of the pages are valid here: the stack creates `.slipway`, and `tools` and the command are those of the
  // repository.
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-pages-'));
  chmodSync(folder, 0o755);
  for (const name of ['tools', 'node_modules', 'package.json'])
    symlinkSync(path.join(root, name), path.join(folder, name));
  // The file extends the built-in targets, so the simulator is still available.
  const file = config!.replace('/opt/llama.cpp/bin/llama-server', (text) => LLAMA_SERVER ?? text);
  writeFileSync(path.join(folder, 'slipway.config.yaml'), file);
  ports = { api: await freePort(), gateway: await freePort(), simulator: await freePort() };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

// Only the ports differ from the pages, because another stack or test may use the original ones.
const onOurPorts = (text: string): string =>
  text
    .replaceAll('127.0.0.1:7070', `127.0.0.1:${ports.api}`)
    .replaceAll('127.0.0.1:7080', `127.0.0.1:${ports.gateway}`)
    .replaceAll(
      /(127\.0\.0\.1:|--port )(800\d)/g,
      (_, before: string, port: string) => `${before}${ports.simulator + Number(port) - 8000}`,
    );

const type = (shell: ShellName, steps: PageStep[], pasted: boolean): Promise<StepOutput[]> =>
  typeInto(
    shell,
    steps.map(({ text }) => onOurPorts(text)),
    {
      pasted,
      cwd: folder,
      env: childEnvironment({ PATH: `${path.dirname(process.execPath)}:${childEnvironment()['PATH']}` }),
    },
  );

const complaints = (steps: PageStep[], printed: StepOutput[]): string[] =>
  steps.flatMap((step, index) => complaintsAbout(step, printed[index] as StepOutput));

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** The stack that `npm start` runs after the build, in a separate folder and on separate ports. */
class FreshStack {
  private output = '';
  private readonly exit: Promise<number | null>;

  private constructor(private readonly launcher: ChildProcess) {
    for (const stream of [launcher.stdout, launcher.stderr]) stream?.on('data', (chunk) => (this.output += chunk));
    this.exit = new Promise((resolve) => launcher.once('exit', resolve));
  }

  static async start(): Promise<FreshStack> {
    const stack = new FreshStack(
      spawn(process.execPath, [path.join(root, 'tools/quickstart/dist/start.js')], {
        cwd: folder,
        env: childEnvironment({
          SLIPWAY_API_PORT: String(ports.api),
          SLIPWAY_GATEWAY_PORT: String(ports.gateway),
          SLIPWAY_HOME: undefined,
          SLIPWAY_CONFIG: undefined,
          DATABASE_URL: undefined,
          REDIS_URL: undefined,
          NODE_ENV: undefined,
          NODE_OPTIONS: undefined,
          npm_lifecycle_event: undefined,
        }),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const deadline = Date.now() + 90_000;
    while (!stack.output.includes('slipway ready')) {
      if (stack.launcher.exitCode !== null || Date.now() > deadline) {
        await stack.stop();
        throw new Error(`the stack does not start\n${stack.output}`);
      }
      await delay(50);
    }
    return stack;
  }

  async stop(): Promise<void> {
    if (this.launcher.exitCode === null) this.launcher.kill('SIGTERM');
    await this.exit;
  }
}

it('the table has a row for each of the sixteen operations, in their order', () => {
  const rows = tour.steps.filter(({ returns }) => returns);
  expect(rows.map(({ name }) => name.split(',')[0])).toEqual(Array.from({ length: 16 }, (_, i) => `row ${i + 1}`));
});

// These commands are not typed here: they install, build and test the repository of this test.
it('the pages name only scripts and generators that exist', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const { generators } = JSON.parse(readFileSync(path.join(root, 'tools/generators/generators.json'), 'utf8'));
  const commands = pages.flatMap(({ packageCommands }) => packageCommands).flatMap((line) => line.split(' && '));
  expect(commands).toEqual(expect.arrayContaining(['npm ci', 'npm run quickstart', 'npm test', 'npm start']));
  const unknown = commands.filter((command) => {
    const [tool, verb, name] = command.split(' ') as [string, string, string];
    if (tool === 'npx') return name === 'g' && !generators[command.split(' ')[3] as string];
    return !['ci', 'i'].includes(verb) && !scripts[verb === 'run' ? name : verb];
  });
  expect(unknown).toEqual([]);
});

/** The README leaves its simulator running for the reader. */
const END_OF_README: PageStep = { name: 'the end of README.md', text: 'kill $OLD $NEW\n' };

/** Guides wait for canaries and scaling, which take the same time in each shell, so one shell is enough. */
const pagesFor = (shell: ShellName) => pages.filter(({ file }) => shell === 'bash' || !file.startsWith('docs/guides/'));

/** Commands on llama.cpp take the same time in each shell, so one shell is enough. */
const stepsFor = (shell: ShellName, steps: PageStep[]): PageStep[] =>
  steps.filter(({ text }) => !/llamacpp-chat|tiny/.test(text) || (LLAMA_SERVER && shell === 'bash'));

// A person types into bash or zsh; scripts run dash as `sh`.
const isPasted = (shell: ShellName): boolean => shell !== 'dash';

for (const shell of SHELL_NAMES) {
  const whereInstalled = isInstalled(shell) ? it : it.skip;
  const how = (pasted: boolean): string => `${shell}, ${pasted ? 'pasted' : 'run'}`;

  const without = shell === 'bash' && !LLAMA_SERVER ? ', except those on llama.cpp, which is not installed' : '';
  whereInstalled(`${how(isPasted(shell))}: on a fresh stack each line does what its page says${without}`, async () => {
    const stack = await FreshStack.start();
    try {
      for (const { file, steps } of [readme, ...pagesFor(shell)]) {
        const chosen = [...stepsFor(shell, steps), ...(file === 'README.md' ? [END_OF_README] : [])];
        const printed = await type(shell, chosen, isPasted(shell));
        expect([file, complaints(chosen, printed)]).toEqual([file, []]);
        const output = printed.map(({ stdout }) => stdout).join('');
        expect(output).toMatch(RESULTS[file] ?? /./);
      }
    } finally {
      await stack.stop();
    }
    expect(await Promise.all(Object.values(ports).map(isOpen))).toEqual([false, false, false]);
  });

  // Also tests the other way of typing, without a second stack.
  whereInstalled(
    `${how(!isPasted(shell))}: each line of the tour is understood, and shows an error whole`,
    async () => {
      const servers = await Promise.all([ports.api, ports.gateway].map(refuseAll));
      const printed = await type(shell, tour.steps, !isPasted(shell));
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      const unmoved = tour.steps.filter(
        (step, index) => !complaintsAbout(step, printed[index] as StepOutput).includes(`${step.name} was answered 422`),
      );
      expect(unmoved).toEqual([]);
      const shown = printed.map(({ stderr }) => stderr).join('');
      expect(shown).toContain("message: 'mind the gap'");
      expect(shown).toContain("field: 'name'");
      expect(shown).not.toMatch(/not found|unexpected|parse error|[Ss]yntax|Unterminated|^\s+at /m);
    },
  );
}

/** An API that refuses every request. */
async function refuseAll(port: number): Promise<Server> {
  const details = [{ field: 'name', code: 'required', message: 'name is required' }];
  const error = { code: 'validation_failed', message: 'mind the gap', remediation: 'Look down.', details };
  const server = createServer((_, answer) =>
    answer.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ error })),
  );
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

(isInstalled('zsh') ? it : it.skip)('zsh, pasted: a comment on a line and a lost PATH are noticed', async () => {
  const steps = [
    { name: 'a comment', text: 'sleep 0    # what row 16 would show\n' },
    { name: 'a lost PATH', text: 'new() { path=$1; cat /dev/null; }\nnew /deployments\n' },
  ];
  const [comment, lostPath, ...more] = complaints(steps, await type('zsh', steps, true));
  expect(comment).toMatch(/^a comment: .*#/);
  expect(lostPath).toMatch(/^a lost PATH.*command not found: cat/);
  expect(more).toEqual([]);
});

it('notices a status, a field and an end that differ from the row', () => {
  const row = { name: 'row 2', text: '', returns: '202, `state` is `active`, finally `rollback succeeded`' };
  expect(complaintsAbout(row, { stdout: 'rollback failed\n', stderr: 'HTTP 409\n', status: 0 })).toEqual([
    'row 2 was answered 409',
    'row 2 ends with the statuses 409',
    'row 2 has state (no JSON: rollback failed)',
    'row 2 ends with: rollback failed',
  ]);
});
