import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, engineConfig, isRunning } from '../../test/engine-host.js';
import { EngineCgroups } from './engine-cgroup.js';
import { ProcessDriver } from '../process-driver.js';

const isRoot = process.getuid?.() === 0;
const ENGINE = fileURLToPath(new URL('../../test/engine.mjs', import.meta.url));
const mayTry = isRoot && EngineCgroups.find() !== undefined && ['nobody', 'daemon'].every(mayRunNode);

/** Node may be in a folder that only root can enter. */
function mayRunNode(user: string): boolean {
  try {
    execFileSync('setpriv', [`--reuid=${user}`, process.execPath, '--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

let host: EngineHost;
let driver: ProcessDriver | undefined;
beforeEach(async () => {
  host = await EngineHost.create();
  await host.setHealthy(true);
});
afterEach(async () => {
  await driver?.close();
  await host.dispose();
});

/** A shell that tries to read forbidden files, reports the result, and becomes the engine. */
const prying = (user: string, ...secrets: string[]) => ({
  user,
  cwd: '{instance.dir}',
  command: [
    '/bin/sh',
    '-c',
    `for file in ${secrets.join(' ')}; do cat "$file" 2>/dev/null && echo "read $file"; done; ` +
      `grep -q "^CapEff:.*[1-9a-f]" /proc/self/status && echo "has capabilities"; ` +
      `echo "uid $(id -u)"; touch mine && echo "wrote"; exec "$@"`,
    'sh',
    process.execPath,
    join(host.home, 'engine.mjs'),
    '--port={port}',
    '--model={model.id}',
  ],
});

(mayTry ? describe : describe.skip)('an engine with its own user', () => {
  it('writes its own folder, and cannot read secrets of the installation or files of another engine', async () => {
    await chmod(host.home, 0o711);
    await copyFile(ENGINE, join(host.home, 'engine.mjs'));
    await writeFile(host.log(), '');
    await chmod(host.log(), 0o666);
    await writeFile(join(host.home, 'bootstrap-token'), 'secret', { mode: 0o600 });
    const instances = join(host.home, 'instances', 'local');
    const theirs = join(instances, 'inst_1', 'work', 'mine');

    driver = host.driver({}, prying('daemon', join(host.home, 'bootstrap-token')));
    await driver.provision(host.spec());
    await observeUntil(driver, host.spec(), 'ready');
    await writeFile(theirs, 'of the other');
    expect((await stat(theirs)).uid).toBe(Number(execFileSync('id', ['-u', 'daemon'])));

    const second = host.driver(
      {},
      prying('nobody', join(host.home, 'bootstrap-token'), theirs, join(instances, 'inst_1', '1.intent')),
    );
    const spec = host.spec({ instanceId: 'inst_2' });
    await second.provision(spec);
    const { incarnation } = await observeUntil(second, spec, 'ready');
    const said = await readFile(join(instances, 'inst_2', '1.stdout.log'), 'utf8');
    expect(said).toBe(`uid ${Number(execFileSync('id', ['-u', 'nobody']))}\nwrote\n`);
    const status = await readFile(`/proc/${incarnation}/status`, 'utf8');
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);

    await terminateUntilGone(second, 'inst_2');
    expect(await isRunning(Number(incarnation))).toBe(false);
    await second.close();
  });

  it('is refused at start-up if it could not be tracked, is unknown, or cannot reach its folder', async () => {
    const make =
      (user: string, options = {}) =>
      () =>
        new ProcessDriver(engineConfig({ user }), { home: host.home, ...options });
    expect(make('nobody', { cgroups: false })).toThrow(
      'user "nobody" cannot be used: the worker cannot create control groups',
    );
    expect(make('no-such-user')).toThrow('this user does not exist on the host');
    expect(make('root')).toThrow('engines must not run as root');
    await mkdir(join(host.home, 'x'));
    expect(make('nobody')).toThrow(`it cannot access ${host.home}`);
    expect(make('nobody', { starts: false })).not.toThrow();
  });
});

(isRoot ? it.skip : it)('refuses an engine with a user if the worker is not root', () => {
  expect(() => new ProcessDriver(engineConfig({ user: 'nobody' }), { home: host.home })).toThrow(
    /user "nobody" cannot be used: the worker /,
  );
});
