import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { listenFault, makeHome, oneLine, reach, StartupError, type ServiceFault } from './startup.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-startup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('makeHome', () => {
  it('makes the folder for its owner, and leaves nothing in it', () => {
    const home = path.join(folder, 'a', 'home');
    makeHome(home);
    makeHome(home);
    expect(readdirSync(home)).toEqual([]);
    expect(statSync(home).mode & 0o066).toBe(0);
  });

  it('names the variable at once if the system allows no user to make a folder', () => {
    // Node's own recursive mkdir never returns there.
    expect(() => makeHome('/proc/x/y')).toThrow(
      new StartupError(
        'SLIPWAY_HOME: cannot write to /proc/x/y (the system does not allow creating it). Set SLIPWAY_HOME to a writable folder.',
      ),
    );
  });

  it('says that a file is in the way', () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    for (const home of [file, path.join(file, 'home')])
      expect(() => makeHome(home)).toThrow(
        `SLIPWAY_HOME: cannot write to ${home} (part of the path is a file, not a folder). Set SLIPWAY_HOME to a writable folder.`,
      );
  });
});

describe('reach', () => {
  const away: ServiceFault = { kind: 'away', text: 'nobody listens.' };
  const unknown: ServiceFault = { kind: 'unknown_host', text: 'the host is unknown.' };
  const refused: ServiceFault = { kind: 'refused', text: 'no.' };

  const outcome = async (faults: (ServiceFault | undefined)[], isPatient: boolean, patienceMs?: number) => {
    const said: string[] = [];
    const left = [...faults];
    const look = async (): Promise<ServiceFault | undefined> => (left.length > 1 ? left.shift() : left[0]);
    const error = await reach(look, {
      variable: 'DATABASE_URL',
      isPatient,
      patienceMs,
      say: (line) => said.push(line),
    }).then(
      () => undefined,
      (problem: unknown) => problem,
    );
    return { said, error };
  };

  it('waits for an unavailable service, says so once, and continues when it is available', async () => {
    expect(await outcome([away, away, undefined], false)).toEqual({
      said: ['DATABASE_URL: nobody listens. Waiting for it for up to 20 s.'],
      error: undefined,
    });
  });

  it('gives up with exit code 78 when its time is over', async () => {
    const { error } = await outcome([away], false, 0);
    expect(error).toEqual(new StartupError('DATABASE_URL: nobody listens.', 78));
  });

  it('does not wait after a refusal, or for a host that does not exist', async () => {
    for (const fault of [refused, unknown])
      expect(await outcome([fault, undefined], false)).toEqual({
        said: [],
        error: new StartupError(`DATABASE_URL: ${fault.text}`),
      });
  });

  it('in production waits without end for a service that may come back, even on an unknown host', async () => {
    expect(await outcome([away, unknown, undefined], true, 0)).toEqual({
      said: ['DATABASE_URL: nobody listens. Waiting for it.', 'DATABASE_URL: the host is unknown. Waiting for it.'],
      error: undefined,
    });
    expect((await outcome([refused], true)).error).toEqual(new StartupError('DATABASE_URL: no.'));
  });

  it('stops waiting when its signal is aborted', async () => {
    const asked = new AbortController();
    const say = (): void => asked.abort();
    await reach(async () => away, { variable: 'X', isPatient: true, say, signal: asked.signal });
  });
});

it('names the variable to change if a server cannot listen', () => {
  const asked = { host: '203.0.113.9', port: 80, variable: 'SLIPWAY_API_PORT' };
  const told = (code: string) => listenFault(Object.assign(new Error(), { code }), asked)?.message;
  expect(told('EADDRINUSE')).toBe(
    'SLIPWAY_API_PORT: port 80 is taken by another program. Free it, or set SLIPWAY_API_PORT to another one.',
  );
  expect(told('EACCES')).toBe(
    'SLIPWAY_API_PORT: this user is not permitted to use port 80. Set SLIPWAY_API_PORT to another one.',
  );
  expect(told('EADDRNOTAVAIL')).toBe(
    'SLIPWAY_HOST: cannot listen on 203.0.113.9 (EADDRNOTAVAIL). Set SLIPWAY_HOST to an address of this machine, e.g. 127.0.0.1.',
  );
  expect(told('EPIPE')).toBeUndefined();
});

it('puts an error on one line', () => {
  expect(oneLine(new Error('a\n  b'))).toBe('a b');
  expect(oneLine(Object.assign(new Error(), { code: 'EPIPE' }))).toBe('EPIPE');
  expect(oneLine(new AggregateError([new Error('::1'), new Error('127.0.0.1'), new Error('::1')]))).toBe(
    '::1; 127.0.0.1',
  );
});
