import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { SILENT_LOG } from '../log.js';
import { piecesOf, SnapshotFile, type StoredSnapshot } from './snapshot.file.js';

let home: string;
let file: string;
let revoked: string[];
let snapshot: SnapshotFile;
/** When the contents of writes were taken, in milliseconds. */
let takenAt: number[];

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'slipway-snapshot-'));
  file = path.join(home, 'gateway', 'snapshot.json');
  revoked = ['first'];
  takenAt = [];
  const content = () => {
    takenAt.push(performance.now());
    return { routes: [], backends: [], slugs: [], revoked_passports: revoked, tokens: [] };
  };
  snapshot = new SnapshotFile(home, content, SILENT_LOG);
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const stored = (): string[] =>
  (JSON.parse(readFileSync(file, 'utf8')) as { revoked_passports: string[] }).revoked_passports;

/** All file handles share their methods; the prototype is reachable only through an open one. */
async function methodsOfFiles(): Promise<FileHandle> {
  const probe = await open(path.join(home, 'probe'), 'w');
  const methods = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  return methods;
}

async function onSync(work: (sync: () => Promise<void>) => Promise<void>): Promise<void> {
  const methods = await methodsOfFiles();
  const sync = methods.sync;
  jest.spyOn(methods, 'sync').mockImplementation(function (this: FileHandle) {
    return work(() => sync.call(this));
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes writing take this long for each piece of text. */
async function slowly(ms: number): Promise<void> {
  const methods = await methodsOfFiles();
  const { writeFile } = methods;
  jest.spyOn(methods, 'writeFile').mockImplementation(async function (this: FileHandle, data) {
    await pause(ms);
    await writeFile.call(this, data);
  });
}

async function write(...passports: string[]): Promise<void> {
  revoked = passports;
  snapshot.save();
  await snapshot.flush();
}

it('reads what it wrote, and only the owner may read the file', async () => {
  expect(snapshot.load()).toBeNull();
  await write('first');
  expect(snapshot.load()).toMatchObject({ format: 1, revoked_passports: ['first'], tokens: [] });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
});

it('ignores a file of another format, or a broken one', async () => {
  await write('first');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"format":1', '"format":2'));
  expect(snapshot.load()).toBeNull();
  writeFileSync(file, '{"format":1,"routes"');
  expect(snapshot.load()).toBeNull();
});

it('shows the old file until the new one is complete and on disk, and an open reader reads the old one to its end', async () => {
  await write('first');
  const reader = await open(file, 'r');
  const seen: string[][] = [];
  await onSync(async (sync) => {
    seen.push(stored());
    await sync();
    seen.push(stored());
  });
  await write('second');
  // Synced once, and at that time the name still belonged to the old file.
  expect(seen).toEqual([['first'], ['first']]);
  expect(stored()).toEqual(['second']);
  expect(await reader.readFile('utf8')).toContain('"first"');
  await reader.close();
});

it('keeps the old file, and leaves no other behind, if the disk fails at any point', async () => {
  await write('first');
  await onSync(() => Promise.reject(new Error('no space left on device')));
  await write('second');
  expect(stored()).toEqual(['first']);
  expect(readdirSync(path.dirname(file))).toEqual(['snapshot.json']);
  jest.restoreAllMocks();
  await write('third');
  expect(stored()).toEqual(['third']);
});

it('does not disturb another process that writes to the same folder', async () => {
  const errors: string[] = [];
  const content = () => ({ routes: [], backends: [], slugs: [], revoked_passports: ['theirs'], tokens: [] });
  const log = { ...SILENT_LOG, error: (_fields: object, message: string) => void errors.push(message) };
  const theirs = new SnapshotFile(home, content, log);
  let isOurs = false;
  await onSync(async () => {
    if (isOurs) return;
    // They are about to give their file its name. Ours is written and named meanwhile.
    isOurs = true;
    await write('ours');
    expect(stored()).toEqual(['ours']);
  });
  theirs.save();
  await theirs.flush();
  expect([stored(), errors]).toEqual([['theirs'], []]);
  expect(readdirSync(path.dirname(file))).toEqual(['snapshot.json']);
});

it('writes once more for a change during a write, and never runs two writes at once', async () => {
  let underWay = 0;
  let most = 0;
  let writes = 0;
  let begun: () => void = () => undefined;
  let finish: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const mayFinish = new Promise<void>((resolve) => (finish = resolve));
  await onSync(async () => {
    writes += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    begun();
    await mayFinish;
    underWay -= 1;
  });
  const first = write('first');
  await Promise.race([hasBegun, first]);
  const others = ['second', 'third'].map((passport) => write(passport));
  finish();
  await Promise.all([first, ...others]);
  expect([stored(), writes, most]).toEqual([['third'], 2, 1]);
});

it('pauses longer than it writes, because each write contains everything, unless a caller waits', async () => {
  let writes = 0;
  let writtenAt = Infinity;
  await slowly(10);
  await onSync((sync) => {
    writes += 1;
    writtenAt = Math.min(writtenAt, performance.now());
    return sync();
  });
  const writingMs = (): number => writtenAt - (takenAt[0] as number);
  let change = 0;
  // It pauses for nine times as long as it wrote.
  while (writes === 0 || performance.now() < writtenAt + 3 * writingMs()) {
    revoked = [`change-${(change += 1)}`];
    snapshot.save();
    await pause(10);
  }
  expect(writes).toBe(1);
  const begin = performance.now();
  await snapshot.flush();
  expect(performance.now() - begin).toBeLessThan(5 * writingMs());
  expect([stored(), writes]).toEqual([[`change-${change}`], 2]);
});

it('writes what changed during its pause', async () => {
  await slowly(2);
  await write('first');
  snapshot.save();
  await pause(200);
  revoked = ['second'];
  snapshot.save();
  const end = performance.now() + 20_000;
  while (stored()[0] !== 'second' && performance.now() < end) await pause(10);
  expect(stored()).toEqual(['second']);
  await snapshot.flush();
});

it('turns a few rows into text at a time, until all are written', () => {
  const backend = { revision_id: 'rev', instances: [{ id: 'ins', base_url: 'http://127.0.0.1:1', state: 'ready' }] };
  const large = {
    format: 1,
    saved_at: '2026-01-01T00:00:00.000Z',
    routes: [{ deployment_id: 'dep' }],
    backends: Array.from({ length: 1_001 }, (_, version) => ({ ...backend, version })),
    slugs: [],
    revoked_passports: ['cp_"1"'],
    tokens: [],
  } as unknown as StoredSnapshot;
  const pieces = [...piecesOf(large)];
  expect(JSON.parse(pieces.join(''))).toEqual(large);
  const longest = Math.max(...pieces.map(({ length }) => length));
  expect(longest).toBeLessThan(pieces.join('').length / 4);
});
