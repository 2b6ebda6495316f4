import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import { describeConformance, observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, engineConfig, isRunning, until } from '../test/engine-host.js';
import { ProcessDriver } from './process-driver.js';

const pidOf = ({ incarnation }: Observation) => Number(incarnation);

describeConformance('ProcessDriver', {
  adopts: false,
  restarts: 'caller',
  probes: 'look',
  outlivesHost: false,
  create: async () => {
    const host = await EngineHost.create();
    return {
      newDriver: () => host.driver(),
      spec: (overrides) => host.spec(overrides),
      setHealthy: (isHealthy) => host.setHealthy(isHealthy),
      starts: async (instanceId) => (await host.starts()).filter(({ instance }) => instance === instanceId).length,
      crash: async (observed) => void process.kill(pidOf(observed), 'SIGKILL'),
      dispose: () => host.dispose(),
    };
  },
});

/** Without /proc nothing distinguishes the children of an engine from foreign processes. */
const itOnLinux = process.platform === 'linux' ? it : it.skip;

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
  driver = host.driver();
  await host.setHealthy(true);
});
afterEach(async () => {
  await driver.close();
  await host.dispose();
});

const folderOf = (instanceId: string) => join(host.home, 'instances', 'local', instanceId);

describe('a worker that is killed with SIGKILL', () => {
  it.each(['provision.before_spawn', 'provision.after_claim'])(
    'at %s leaves exactly one engine to its successor',
    async (point) => {
      const spec = host.spec();
      await host.provisionAndDieAt(point, spec);
      await driver.provision(spec);
      const pid = pidOf(await observeUntil(driver, spec, 'ready'));
      expect((await host.starts()).map((line) => line.pid)).toEqual([pid]);
    },
  );
});

describe('stopping', () => {
  it('kills an engine that ignores SIGTERM after its grace period, even if the first worker is gone', async () => {
    const spec = host.spec({}, { ignore_term: true });
    const first = host.driver({ graceSeconds: 600 });
    await first.provision(spec);
    const pid = pidOf(await observeUntil(first, spec, 'ready'));
    expect(await first.terminate('inst_1')).toBe('stopping');
    await until('SIGTERM arrives', async () =>
      (await readFile(join(folderOf('inst_1'), '1.stdout.log'), 'utf8')).includes('not now'),
    );
    expect(await first.terminate('inst_1')).toBe('stopping');
    expect((await first.observe(spec)).state).toBe('stopping');
    await first.close();
    expect(await isRunning(pid)).toBe(true);

    // The mark is now as old as the grace period.
    const past = new Date(Date.now() - 601_000);
    await utimes(join(folderOf('inst_1'), '1.stop'), past, past);
    const successor = host.driver({ graceSeconds: 600 });
    await terminateUntilGone(successor, 'inst_1');
    expect(await isRunning(pid)).toBe(false);
    // Only once, because many servers treat the second one as "drop everything".
    expect((await readFile(join(folderOf('inst_1'), '1.stdout.log'), 'utf8')).match(/not now/g)).toHaveLength(1);
    await successor.close();
  });

  it('escalates without another call while the worker lives', async () => {
    const prompt = host.driver({ graceSeconds: 0.2 });
    const spec = host.spec({}, { ignore_term: true });
    await prompt.provision(spec);
    const pid = pidOf(await observeUntil(prompt, spec, 'ready'));
    await prompt.terminate('inst_1');
    await until('it is killed', async () => !(await isRunning(pid)));
    await prompt.close();
  });

  itOnLinux('ends the children of a crashed engine as well', async () => {
    const spec = host.spec({}, { with_child: true });
    await driver.provision(spec);
    const pid = pidOf(await observeUntil(driver, spec, 'ready'));
    const { child } = (await host.starts())[0];
    process.kill(pid, 'SIGKILL');
    await observeUntil(driver, spec, 'exited');
    expect(await isRunning(child!)).toBe(true);
    await terminateUntilGone(driver, 'inst_1');
    expect(await isRunning(child!)).toBe(false);
  });

  it('never signals a foreign process that has the pid by now', async () => {
    const spec = host.spec();
    await driver.provision(spec);
    await observeUntil(driver, spec, 'ready');
    await terminateUntilGone(driver, 'inst_1');
    // As after a reuse of the pid: this test process, born at another time.
    const reused = host.spec({ instanceId: 'inst_2' });
    const [, , port, boot] = (await readFile(join(folderOf('inst_1'), '1.pid'), 'utf8')).split('\n');
    await mkdir(folderOf('inst_2'), { recursive: true });
    await writeFile(join(folderOf('inst_2'), '1.pid'), `${process.pid}\n1\n${port}\n${boot}\n12345\n`);
    expect((await driver.observe(reused)).state).toBe('exited');
    expect(await driver.terminate('inst_2')).toBe('gone');
  });
});

describe('the result of a start', () => {
  it('reports the exit code of an engine that ends by itself', async () => {
    const spec = host.spec({}, { exit_code: 3 });
    await driver.provision(spec);
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({
      reason: 'exited',
      lastExit: { code: 3 },
      message: 'it ended with code 3',
      generation: 1,
    });
    expect(await driver.list()).toEqual([{ instanceId: 'inst_1', generation: 1 }]);
  });

  it('reports the signal that ended an engine', async () => {
    const spec = host.spec();
    await driver.provision(spec);
    process.kill(pidOf(await observeUntil(driver, spec, 'ready')), 'SIGKILL');
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({
      reason: 'killed',
      lastExit: { code: null },
      message: 'it was stopped by SIGKILL',
    });
  });

  it('reports a missing program as 127, as a shell does', async () => {
    const spec = host.spec({ runtime: { engine: 'missing', args: {}, env: {} } });
    await driver.provision(spec);
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({ lastExit: { code: 127 } });
  });

  it('fails if there is no shell, and can be tried again', async () => {
    const broken = host.driver({ shell: '/no/such/shell' });
    await expect(broken.provision(host.spec())).rejects.toMatchObject({ code: 'ENOENT' });
    await broken.close();
    await driver.provision(host.spec());
    await observeUntil(driver, host.spec(), 'ready');
  });

  it('counts a process that died while it wrote its claim as exited, after a while', async () => {
    await mkdir(folderOf('inst_1'), { recursive: true });
    const claim = join(folderOf('inst_1'), '1.pid');
    await writeFile(claim, '4711\n1\n');
    expect((await driver.observe(host.spec())).state).toBe('starting');
    await driver.provision(host.spec());
    const past = new Date(Date.now() - 60_000);
    await utimes(claim, past, past);
    expect((await driver.observe(host.spec())).state).toBe('exited');
    expect(await host.starts()).toEqual([]);
  });

  it('is unhealthy if it does not become ready in time', async () => {
    await host.setHealthy(false);
    const spec = host.spec({ readyTimeoutSeconds: 0.1 });
    await driver.provision(spec);
    expect((await observeUntil(driver, spec, 'unhealthy')).message).toMatch(/^not ready within 0.1 s: /);
  });

  it('checks again whether an engine is ready after a change of the worker', async () => {
    const spec = host.spec();
    await driver.provision(spec);
    await observeUntil(driver, spec, 'ready');
    await host.setHealthy(false);
    const successor = host.driver();
    expect((await successor.observe(spec)).state).toBe('unhealthy');
    await successor.close();
  });
});

describe('an engine', () => {
  it('gets its command line, its folder and its environment, and nothing of the worker', async () => {
    process.env.DATABASE_URL = 'postgres://secret';
    try {
      const spec = host.spec({ model: { id: '; rm -rf $HOME `id` $(id) "\'' } });
      spec.runtime.env = { API_KEY: 'k 1' };
      await driver.provision(spec);
      await observeUntil(driver, spec, 'ready');
    } finally {
      delete process.env.DATABASE_URL;
    }
    const [{ argv, env, cwd }] = await host.starts();
    expect(argv.slice(0, 2)).toEqual(['--port', expect.stringMatching(/^2\d{4}$/)]);
    expect(argv.slice(2, 4)).toEqual(['--model', '; rm -rf $HOME `id` $(id) "\'']);
    expect(cwd).toMatch(/libs\/targets\/process$/);
    // A shell may add its own working folder and depth; there are no other variables.
    const { PWD: _pwd, OLDPWD: _old, SHLVL: _level, _: _last, ...rest } = env;
    expect(Object.keys(rest).sort()).toEqual([
      'API_KEY',
      'HOME',
      'LANG',
      'PATH',
      'SLIPWAY_INSTANCE_FOLDER',
      'SLIPWAY_INSTANCE_GENERATION',
      'SLIPWAY_INSTANCE_ID',
      'SPT_NOENV',
    ]);
    expect(rest.API_KEY).toBe('k 1');
  });

  it('gets bounded logs that no other user can read', async () => {
    const chatty = host.driver({ maxLogBytes: 1_000 });
    const spec = host.spec({}, { chatter: 5_000 });
    await chatty.provision(spec);
    await observeUntil(chatty, spec, 'ready');
    await chatty.observe(spec);
    for (const name of await readdir(folderOf('inst_1'))) {
      expect([name, (await stat(join(folderOf('inst_1'), name))).mode & 0o077]).toEqual([name, 0]);
    }
    expect((await stat(folderOf('inst_1'))).mode & 0o077).toBe(0);
    expect((await stat(join(folderOf('inst_1'), '1.stdout.log'))).size).toBeLessThan(1_000);
    expect((await stat(join(folderOf('inst_1'), '1.stdout.log.1'))).size).toBeGreaterThan(5_000);
    await chatty.close();
  });

  it('gets a port of its own', async () => {
    const specs = ['a', 'b', 'c'].map((instanceId) => host.spec({ instanceId }));
    await Promise.all(specs.map((spec) => driver.provision(spec)));
    const urls = await Promise.all(specs.map(async (spec) => (await observeUntil(driver, spec, 'ready')).baseUrl));
    expect(new Set(urls).size).toBe(3);
    expect((await driver.list()).map((ref) => ref.instanceId)).toEqual(['a', 'b', 'c']);
  });
});

describe('folders', () => {
  it('of a terminated instance are kept for its logs, then removed', async () => {
    const spec = host.spec();
    await driver.provision(spec);
    await observeUntil(driver, spec, 'ready');
    await terminateUntilGone(driver, 'inst_1');
    expect(await driver.list()).toEqual([]);
    expect(await readdir(folderOf('inst_1'))).toContain('1.stderr.log');
    const forgetful = host.driver({ retainSeconds: 0 });
    expect(await forgetful.list()).toEqual([]);
    await expect(stat(folderOf('inst_1'))).rejects.toMatchObject({ code: 'ENOENT' });
    await forgetful.close();
  });

  it('that were deleted count as absent', async () => {
    const spec = host.spec({}, { exit_code: 0 });
    await driver.provision(spec);
    await observeUntil(driver, spec, 'exited');
    await rm(folderOf('inst_1'), { recursive: true });
    expect(await driver.observe(spec)).toEqual({ state: 'absent' });
    expect(await driver.terminate('inst_1')).toBe('gone');
  });
});

it('refuses a target with an invalid configuration, and names every problem', () => {
  const config = engineConfig();
  config.name = '../local';
  config.engines = {
    a: { command: ['serve', '{prot}'] },
    b: { command: ['{model.id}', '{port}'], env_allow: ['SLIPWAY_X'] },
    c: { command: [] },
  };
  expect(() => new ProcessDriver(config, { home: host.home })).toThrow(
    expect.objectContaining({
      name: 'TargetConfigError',
      problems: [
        expect.stringContaining('engine "a": command must pass {port} to the engine'),
        expect.stringContaining('engine "a": command[1] uses the unknown placeholder {prot}; did you mean {port}?'),
        'engine "b": command[0] must name its program without placeholders',
        'engine "b": env_allow[0] must not be SLIPWAY_X, which belongs to Slipway',
        expect.stringContaining('engine "c": command must name a program'),
        'its name must consist of letters, digits, "_" and "-"',
      ],
    }),
  );
});

describe('a target with a new configuration', () => {
  const askedElsewhere = () => {
    const config = engineConfig();
    config.engines['sim']!.ready = { path: '/no-such-path', timeout_seconds: 1 };
    return config;
  };

  it('checks running engines as they were started, also through a worker that knows only the new one', async () => {
    const spec = host.spec();
    await driver.provision(spec);
    const before = await observeUntil(driver, spec, 'ready');
    driver.reconfigure(askedElsewhere())();
    const successor = new ProcessDriver(askedElsewhere(), { home: host.home });
    for (const asking of [driver, successor])
      expect(await asking.observe(spec)).toMatchObject({ state: 'ready', incarnation: before.incarnation });
    await successor.close();
  });

  it('starts engines by the new configuration, and none that it no longer names', async () => {
    const config = engineConfig();
    config.engines = { other: config.engines['sim']! };
    driver.reconfigure(config)();
    await expect(driver.provision(host.spec())).rejects.toThrow('target "local" has the engines: other');
    const { args } = host.spec().runtime;
    const spec = host.spec({ runtime: { engine: 'other', args, env: {} } });
    await driver.provision(spec);
    await observeUntil(driver, spec, 'ready');
  });

  it('changes nothing if the new configuration is invalid, nor before it takes effect', async () => {
    expect(() => driver.reconfigure({ ...engineConfig(), engines: { sim: { command: ['x'] } } })).toThrow('{port}');
    driver.reconfigure({ ...engineConfig(), engines: { other: engineConfig().engines['sim']! } });
    expect(driver.engines().map(({ name }) => name)).toEqual(['sim', 'missing']);
  });
});
