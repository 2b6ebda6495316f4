import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfig, OperatorFileWatch, type LoadedConfig } from './index.js';

const ENV = { DATABASE_URL: 'postgres://u:p@db/slipway', SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
const quota = (webhooks: number) => `quotas: {webhooks: ${webhooks}}\n`;

let folder: string;
let file: string;
let config: LoadedConfig;
let said: string[];
let watch: OperatorFileWatch;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-operator-file-'));
  file = path.join(folder, 'slipway.config.yaml');
  said = [];
});
afterEach(async () => {
  await watch.stop();
  rmSync(folder, { recursive: true });
});

function boot(env: NodeJS.ProcessEnv = {}): void {
  config = loadConfig({ ...ENV, ...env }, folder);
  watch = new OperatorFileWatch(config.operator, config.operatorFile, {
    log: (message) => said.push(message),
    error: (message) => said.push(`error: ${message}`),
  });
}

const webhooks = () => config.operator.quotas?.webhooks;

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}; said ${said.join(' / ')}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a watched file', () => {
  it('takes effect when it is written, for every holder of the settings', async () => {
    writeFileSync(file, quota(1));
    boot();
    const { operator } = config;
    const { digest, loadedAt } = operator.state;
    watch.start();
    writeFileSync(file, quota(2));
    await until('the new quota', () => operator.quotas?.webhooks === 2);
    expect(operator.state).toMatchObject({
      digest: execFileSync('sha256sum', [file], { encoding: 'utf8' }).split(' ')[0],
      problems: [],
    });
    expect(operator.state.digest).not.toBe(digest);
    expect(operator.state.loadedAt.getTime()).toBeGreaterThanOrEqual(loadedAt.getTime());
    expect(said).toEqual([`slipway.config.yaml has changed and is in effect, sha256 ${operator.state.digest}`]);
  });

  it('is followed through a symbolic link that is swapped, as Kubernetes mounts files', async () => {
    const mount = (version: string, text: string) => {
      writeFileSync(path.join(folder, version), text);
      symlinkSync(version, path.join(folder, 'next'));
      renameSync(path.join(folder, 'next'), file);
    };
    mount('first', quota(1));
    boot();
    watch.start();
    mount('second', quota(2));
    await until('the second', () => webhooks() === 2);
    mount('third', quota(3));
    await until('the third', () => webhooks() === 3);
  });

  it('takes effect when it appears, if no file was named', async () => {
    boot();
    expect(config.operator.state.digest).toBeNull();
    watch.start();
    writeFileSync(file, quota(5));
    await until('the quota', () => webhooks() === 5);
  });

  it('does not take effect while it is being written', async () => {
    writeFileSync(file, quota(1));
    boot();
    watch.start();
    // Longer at each poll, so that no two polls find the same text until the writer is done.
    let lines = quota(2);
    const writing = setInterval(() => writeFileSync(file, (lines += '# more\n')), 50);
    const ended = Date.now() + 2_500;
    await until('the writer to be done', () => Date.now() > ended || webhooks() === 2);
    expect(webhooks()).toBe(1);
    clearInterval(writing);
    await until('the new quota', () => webhooks() === 2);
  });
});

describe('an invalid file', () => {
  const refused = () => config.operator.state.problems;

  it('is refused as a whole, logs each problem once, and takes effect again when it is fixed', async () => {
    writeFileSync(file, quota(1));
    boot();
    const { digest } = config.operator.state;
    watch.start();
    writeFileSync(file, `quotas: {webhooks: 9, tokns: 1}\nsecrets: {S: {env: A}}\n`);
    await until('the refusal', () => refused().length > 0);
    expect([webhooks(), config.operator.state.digest]).toEqual([1, digest]);
    expect(refused()).toEqual([
      expect.stringMatching(/^quotas\.tokns is not a known key; did you mean tokens\?/),
      'secrets.S is not a valid secret name',
    ]);
    // A further problem needs as many polls as repeating the first one would.
    writeFileSync(file, 'targets: [');
    await until('the other refusal', () => refused().length === 1);
    expect(said.map((line) => line.slice(0, 30))).toEqual([
      'error: slipway.config.yaml was',
      'error: slipway.config.yaml was',
    ]);
    expect(said[0]).toContain('was rejected, and the previous settings stay in effect. 2 problems: quotas.tokns');
    writeFileSync(file, quota(1));
    await until('the end of the trouble', () => refused().length === 0);
    expect(config.operator.state.digest).toBe(digest);
  });

  it('leaves the last valid settings in effect if it is removed', async () => {
    writeFileSync(file, quota(1));
    boot();
    watch.start();
    rmSync(file);
    await until('the loss', () => refused().length > 0);
    expect([webhooks(), refused()]).toEqual([1, [`${file} cannot be read (ENOENT)`]]);
    writeFileSync(file, quota(2));
    await until('the new one', () => webhooks() === 2);
    expect(refused()).toEqual([]);
  });

  it.each<[string, () => void, string]>([
    ['is far too large', () => writeFileSync(file, '#'.repeat(2 ** 20 + 1)), 'is larger than'],
    [
      'is a pipe that nobody writes to',
      () => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
      'is not a regular file',
    ],
  ])('does not block the process if it %s', async (_what, change, problem) => {
    writeFileSync(file, quota(1));
    boot();
    change();
    await watch.reload();
    expect([webhooks(), refused()[0]]).toEqual([1, expect.stringContaining(problem)]);
  });

  it('is refused for all followers of the settings if one of them refuses it', async () => {
    writeFileSync(file, quota(1));
    boot();
    const held: (number | undefined)[] = [];
    config.operator.follow((next) => () => held.push(next.quotas?.webhooks));
    config.operator.follow(({ quotas }) => {
      if (quotas?.webhooks === 13) throw new Error('the driver cannot work with 13');
      return () => undefined;
    });
    writeFileSync(file, quota(13));
    await watch.reload();
    expect([webhooks(), held, refused()]).toEqual([1, [1], ['the driver cannot work with 13']]);
    writeFileSync(file, quota(14));
    await watch.reload();
    expect([webhooks(), held, refused()]).toEqual([14, [1, 14], []]);
  });
});

it('a requested reload reads the file at once, and also reports that nothing changed', async () => {
  writeFileSync(file, quota(1));
  boot();
  writeFileSync(file, quota(2));
  await watch.reload();
  expect(webhooks()).toBe(2);
  await watch.reload();
  expect(said[1]).toBe('slipway.config.yaml matches the settings in effect');
});
