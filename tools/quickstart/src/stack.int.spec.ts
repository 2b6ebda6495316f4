import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ALL_VARIABLES, readStackFile } from '@slipway/platform-config';
import pg from 'pg';
import { OF_NO_PROCESS, SAMPLES } from '../test/variable-samples.js';
import { externalPostgres, FOREGROUND, HomeTemplate, isAlive, LauncherBed, until } from '../test/launcher-bed.js';

jest.setTimeout(120_000);

let template: HomeTemplate;
let bed: LauncherBed;

beforeAll(async () => {
  template = await HomeTemplate.make();
});
afterAll(() => template?.remove());
beforeEach(() => {
  bed = new LauncherBed();
});
afterEach(() => bed.remove());

const databaseAnswers = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
};

describe('the launcher', () => {
  it('migrates, starts all three processes, prints one line about it, and stops in order', async () => {
    const launcher = bed.launch({ SLIPWAY_OWN_PORTS: '5432' });
    await launcher.ready();
    expect(bed.notes()[0]).toBe('migrate owner slipway_owner');
    const url = readStackFile(bed.home)?.databaseUrl ?? '';
    expect(await databaseAnswers(url)).toBe(true);

    const token = readFileSync(path.join(bed.home, 'bootstrap-token'), 'utf8').trim();
    expect(token).toMatch(/^slw_[a-z0-9]{12}_[0-9a-f]{64}$/);
    expect(launcher.stderr.split(token)).toHaveLength(2);
    expect(bed.notes()).toContain(`api token ${token}`);
    expect(bed.notes()).toContain('worker token none');
    // A person waits for the stop.
    expect(bed.notes()).toContain('gateway drain 10');
    // An operator may list the port that Postgres has by default, although the embedded one has another.
    expect(bed.lastNote('gateway ports').split(/[ ,]/)).toContain('5432');
    for (const file of ['bootstrap-token', 'secret-key', 'run/stack.json'])
      expect(statSync(path.join(bed.home, file)).mode & 0o777).toBe(0o600);

    const pids = bed.pids();
    launcher.child.kill('SIGINT');
    launcher.child.kill('SIGINT');
    expect(await launcher.exit).toBe(0);
    expect(
      bed
        .notes()
        .filter((line) => line.startsWith('worker '))
        .slice(-2),
    ).toEqual(['worker message slipway:stop-engines', 'worker signal SIGTERM']);
    // The worker is stopped last, because requests need its engines until they are answered.
    for (const name of ['api', 'gateway']) bed.expectInOrder(`${name} signal SIGTERM`, 'worker signal SIGTERM');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await databaseAnswers(url)).toBe(false);
    expect(readStackFile(bed.home)).toBeUndefined();
    expect(launcher.stdout.split('\n')).toHaveLength(2);
  });

  it('passes each process the metrics ports of the others, and the drain that is set', async () => {
    const launcher = bed.launch({
      ...externalPostgres(),
      SLIPWAY_METRICS_PORT: '29090',
      SLIPWAY_OWN_PORTS: '29000',
      SLIPWAY_GATEWAY_DRAIN_SECONDS: '90',
    });
    await launcher.ready();
    expect(bed.notes()).toContain('gateway drain 90');
    for (const [index, name] of ['api', 'worker', 'gateway'].entries()) {
      const [, , metrics, own] = bed.lastNote(`${name} ports`).split(' ');
      expect([name, metrics]).toEqual([name, String(29090 + index)]);
      expect(own?.split(',')).toEqual(expect.arrayContaining(['29000', '29090', '29091', '29092']));
    }
    await launcher.end();
  });

  it('gives each process the variables that it reads, and no others', async () => {
    const file = path.join(bed.folder, 'operator.yaml');
    writeFileSync(file, 'secrets: {hub: {env: HUB_TOKEN}}\n');
    const { DATABASE_URL = '', ...external } = externalPostgres();
    const gatewayLogin = new URL(DATABASE_URL);
    gatewayLogin.username = 'slipway_gateway_app';
    const env: Record<string, string | undefined> = {
      ...SAMPLES,
      ...external,
      DATABASE_URL,
      SLIPWAY_MIGRATE_DATABASE_URL: external['SLIPWAY_MIGRATE_DATABASE_URL'] ?? DATABASE_URL,
      SLIPWAY_GATEWAY_DATABASE_URL: gatewayLogin.href,
      SLIPWAY_CONFIG: file,
      SLIPWAY_HOME: bed.home,
      ...OF_NO_PROCESS,
      HUB_TOKEN: 'hub',
    };
    // `npm start` chooses these, so no sample is needed.
    const chosen = ['SLIPWAY_API_PORT', 'SLIPWAY_GATEWAY_PORT', 'NODE_ENV'];
    expect(ALL_VARIABLES.map(({ name }) => name).filter((name) => !env[name] && !chosen.includes(name))).toEqual([]);
    const launcher = bed.launch(env);
    await launcher.ready();
    for (const name of ['migrate', 'api', 'worker', 'gateway'] as const) {
      const got = bed.lastNote(`${name} variables`).split(' ').slice(2);
      const known = [
        ...ALL_VARIABLES.map((row) => row.name),
        ...Object.keys(OF_NO_PROCESS),
        'HUB_TOKEN',
        'AWS_PROFILE',
      ];
      const expected = ALL_VARIABLES.filter(({ processes }) => processes.includes(name))
        .map((row) => row.name)
        .filter((one) => one !== 'NODE_ENV' && !(name === 'gateway' && one === 'SLIPWAY_GATEWAY_DATABASE_URL'));
      const secrets = name === 'api' || name === 'worker' ? ['AWS_PROFILE', 'HUB_TOKEN'] : [];
      expect([name, got.filter((one) => known.includes(one))]).toEqual([name, [...expected, ...secrets].sort()]);
    }
    // The gateway gets its own login under the name that it reads.
    expect(bed.notes()).toContain('gateway login slipway_gateway_app');
    expect(bed.notes()).not.toContain('api login slipway_gateway_app');
    await launcher.end();
  });

  it('restarts a dead process, and Postgres too', async () => {
    template.copyTo(bed.home);
    const launcher = bed.launch();
    await launcher.ready();
    process.kill(bed.pidOf('worker'), 'SIGKILL');
    await until(() => bed.starts('worker') === 2);
    expect(launcher.stderr).toContain('worker | exited with SIGKILL; restarting in 0.1 s');

    const url = readStackFile(bed.home)?.databaseUrl ?? '';
    process.kill(
      Number(readFileSync(path.join(bed.home, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
      'SIGKILL',
    );
    await until(() => launcher.stderr.includes('postgres exited'));
    const deadline = Date.now() + 30_000;
    while (!(await databaseAnswers(url)) && Date.now() < deadline) await delay(50);
    expect(await databaseAnswers(url)).toBe(true);
    launcher.child.kill('SIGTERM');
    expect(await launcher.exit).toBe(0);
  });

  it('a killed launcher leaves nothing that breaks the next start on the same ports', async () => {
    template.copyTo(bed.home);
    const first = bed.launch();
    const { api, gateway } = await first.ready();
    const pids = bed.pids();
    first.child.kill('SIGKILL');
    await first.exit;

    const second = bed.launch({ SLIPWAY_API_PORT: new URL(api).port, SLIPWAY_GATEWAY_PORT: new URL(gateway).port });
    expect(await second.ready()).toEqual({ api, gateway });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(second.stderr).not.toContain('Bootstrap token');
  });

  it('refuses a second stack in the same home', async () => {
    await bed.launch(externalPostgres()).ready();
    const second = bed.launch(externalPostgres());
    expect(await second.exit).toBe(1);
    expect(second.stderr).toContain('Slipway is already running in');
  });

  it('restarts a process that was ready before, even if it refuses its configuration', async () => {
    const launcher = bed.launch(externalPostgres());
    await launcher.ready();
    process.kill(bed.pidOf('gateway'), 'SIGUSR2');
    await until(
      () => bed.starts('gateway') === 2,
      () => launcher.stderr,
    );
    expect(launcher.stderr).toContain('gateway | exited with 78; restarting in 5 s');
  });

  it('keeps its output in files of the home, and prints their path', async () => {
    const launcher = bed.launch(externalPostgres());
    await launcher.ready();
    const file = path.join(bed.home, 'logs', 'slipway.log');
    expect(launcher.stderr).toContain(`slipway | this output is also written to ${file}\n`);
    process.kill(bed.pidOf('worker'), 'SIGKILL');
    await until(() => readFileSync(file, 'utf8').includes('worker | exited with SIGKILL'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('without a terminal, forwards SIGHUP and continues', async () => {
    const launcher = bed.launch(externalPostgres());
    await launcher.ready();
    launcher.child.kill('SIGHUP');
    const wanted = ['api', 'worker', 'gateway'].map((name) => `${name} signal SIGHUP`);
    await until(() => wanted.every((line) => bed.notes().includes(line)));
    launcher.child.kill('SIGTERM');
    expect(await launcher.exit).toBe(0);
  });

  it('stops everything when its terminal is closed', async () => {
    template.copyTo(bed.home);
    // `script` acts as the terminal, and is closed like a window.
    const command = `${process.execPath} ${bed.script}`;
    const terminal = bed.launch({}, FOREGROUND, ['script', '-qec', command, '/dev/null']);
    await until(
      () => terminal.stdout.includes('slipway ready'),
      () => terminal.stdout,
    );
    const pids = bed.pids();
    const url = readStackFile(bed.home)?.databaseUrl ?? '';
    terminal.child.kill('SIGKILL');
    await until(
      () => readStackFile(bed.home) === undefined && !existsSync(path.join(bed.home, 'run', 'processes.json')),
    );
    expect(bed.notes()).toContain('worker message slipway:stop-engines');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await databaseAnswers(url)).toBe(false);
  });
});
