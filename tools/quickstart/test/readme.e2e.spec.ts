import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { freePort } from '@slipway/platform-database/testing';
import { complaintsAbout, readReadme, type StepOutput, type ReadmeStep } from './readme.js';
import { isInstalled, SHELL_NAMES, typeInto, type ShellName } from './typing-shell.js';

jest.setTimeout(180_000);

/** llama.cpp's own server, by `node tools/llamacpp/build.mjs`; `.ci/nightly` sets it. */
const LLAMA_SERVER = process.env['SLIPWAY_TEST_LLAMA_SERVER'];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readReadme(readFileSync(path.join(root, 'README.md'), 'utf8'));

let folder: string;
let ports: { api: number; gateway: number; simulator: number };

beforeEach(async () => {
  // README's paths hold here: the stack makes `.slipway`, and `tools` is the repository's.
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-readme-'));
  chmodSync(folder, 0o755);
  symlinkSync(path.join(root, 'tools'), path.join(folder, 'tools'));
  // It adds to what is built in: whoever copies it still has the simulator.
  const file = (readme.yaml[0] as string).replace('/opt/llama.cpp/bin/llama-server', (text) => LLAMA_SERVER ?? text);
  writeFileSync(path.join(folder, 'slipway.config.yaml'), file);
  ports = { api: await freePort(), gateway: await freePort(), simulator: await freePort() };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

// The ports are all that is not typed as it stands: another stack, or another test, may have README's.
const onOurPorts = (text: string): string =>
  text
    .replaceAll('127.0.0.1:7070', `127.0.0.1:${ports.api}`)
    .replaceAll('127.0.0.1:7080', `127.0.0.1:${ports.gateway}`)
    .replaceAll(/127\.0\.0\.1:8000|(?<=--port )8000/g, (text) => text.replace('8000', String(ports.simulator)));

const type = (shell: ShellName, steps: ReadmeStep[], pasted: boolean): Promise<StepOutput[]> =>
  typeInto(
    shell,
    steps.map(({ text }) => onOurPorts(text)),
    {
      pasted,
      cwd: folder,
      env: childEnvironment({ PATH: `${path.dirname(process.execPath)}:${childEnvironment()['PATH']}` }),
    },
  );

const complaints = (steps: ReadmeStep[], printed: StepOutput[]): string[] =>
  steps.flatMap((step, index) => complaintsAbout(step, printed[index] as StepOutput));

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** What `npm start` runs after the build, in a folder and on ports of its own. */
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

it('has a row for each of the sixteen operations, in their order', () => {
  const rows = readme.steps.filter(({ answers }) => answers);
  expect(rows.map(({ name }) => name.split(',')[0])).toEqual(Array.from({ length: 16 }, (_, i) => `row ${i + 1}`));
});

it('links to files that are there', () => {
  expect(readme.links.filter((link) => !existsSync(path.join(root, link)))).toEqual([]);
});

// They are not typed here: they install, build and test the repository whose test this is.
it("names scripts and generators that exist, in npm's commands", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const { generators } = JSON.parse(readFileSync(path.join(root, 'tools/generators/generators.json'), 'utf8'));
  const commands = readme.packageCommands.flatMap((line) => line.split(' && '));
  expect(commands).toEqual(expect.arrayContaining(['npm ci', 'npm run quickstart', 'npm test', 'npm start']));
  const unknown = commands.filter((command) => {
    const [tool, verb, name] = command.split(' ') as [string, string, string];
    if (tool === 'npx' && verb === 'slipway') return false;
    if (tool === 'npx') return verb !== 'nx' || (name === 'g' && !generators[command.split(' ')[3] as string]);
    return !['ci', 'i'].includes(verb) && !scripts[verb === 'run' ? name : verb];
  });
  expect(unknown).toEqual([]);
});

/** What a shell is given on a stack: the lines on llama.cpp in one of them, for they take as long in each. */
const stepsFor = (shell: ShellName): ReadmeStep[] =>
  readme.steps.filter(({ text }) => !text.includes('deployments/mine') || (LLAMA_SERVER && shell === 'bash'));

// Nobody types into a dash, which is what scripts get as `sh`.
const isPasted = (shell: ShellName): boolean => shell !== 'dash';

for (const shell of SHELL_NAMES) {
  const whereInstalled = isInstalled(shell) ? it : it.skip;
  const how = (pasted: boolean): string => `${shell}, ${pasted ? 'pasted' : 'run'}`;

  const without = shell === 'bash' && !LLAMA_SERVER ? ', but those on llama.cpp, which is not here' : '';
  whereInstalled(
    `${how(isPasted(shell))}: on a fresh stack each line answers what README.md says${without}`,
    async () => {
      const stack = await FreshStack.start();
      const steps = stepsFor(shell);
      try {
        const printed = await type(shell, steps, isPasted(shell));
        expect(complaints(steps, printed)).toEqual([]);
        const adoption = steps.findIndex(({ text }) => text.includes('"target":"adopted"'));
        expect(printed[adoption]?.stdout).toMatch(/"model":"borrowed".*llama is a simulated model/);
      } finally {
        await stack.stop();
      }
      expect(await Promise.all(Object.values(ports).map(isOpen))).toEqual([false, false, false]);
    },
  );

  // Also the other way of typing, without a second stack.
  whereInstalled(`${how(!isPasted(shell))}: each line is understood, and shows an error whole`, async () => {
    const servers = await Promise.all([ports.api, ports.gateway].map(refuseAll));
    const printed = await type(shell, readme.steps, !isPasted(shell));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    const unmoved = readme.steps.filter(
      (step, index) => !complaintsAbout(step, printed[index] as StepOutput).includes(`${step.name} was answered 422`),
    );
    expect(unmoved).toEqual([]);
    const told = printed.map(({ stderr }) => stderr).join('');
    expect(told).toContain("message: 'mind the gap'");
    expect(told).toContain("field: 'name'");
    expect(told).not.toMatch(/not found|unexpected|parse error|[Ss]yntax|Unterminated|^\s+at /m);
  });
}

/** An API that refuses whatever it is asked. */
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
  expect(comment).toMatch(/^a comment was told: .*#/);
  expect(lostPath).toMatch(/^a lost PATH was told: .*command not found: cat/);
  expect(more).toEqual([]);
});

it('notices a status, a field and an end that are not as a row says', () => {
  const row = { name: 'row 2', text: '', answers: '202, `state` is `active`, at last `rollback succeeded`' };
  expect(complaintsAbout(row, { stdout: 'rollback failed\n', stderr: 'HTTP 409\n' })).toEqual([
    'row 2 was answered 409',
    'row 2 ends with the statuses 409',
    'row 2 has state (no JSON: rollback failed)',
    'row 2 ends with: rollback failed',
  ]);
});
