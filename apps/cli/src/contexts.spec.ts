import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Contexts } from './contexts.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'slipway-contexts-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const contexts = (env: Record<string, string> = {}, cwd = home) =>
  new Contexts({ HOME: home, SLIPWAY_HOME: path.join(home, 'none'), ...env }, cwd, path.join(home, 'clone'));
const kept = (name: string) => ({ name, url: `https://${name}.example.com`, token: `token-of-${name}` });

it('keeps several contexts in a private file, even if a file existed that others could read', () => {
  const file = path.join(home, '.config/slipway/contexts.json');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '{"contexts":{}}', { mode: 0o644 });
  contexts().keep(kept('one'));
  contexts().keep(kept('two'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(contexts().chosen()).toEqual(kept('two'));
  expect(contexts().chosen('one')).toEqual(kept('one'));
  contexts().use('one');
  expect(contexts().chosen()).toEqual(kept('one'));
  contexts().forget('one');
  expect(() => contexts().chosen()).toThrow('Not logged in');
  expect(readFileSync(file, 'utf8')).not.toContain('token-of-one');
});

it('follows XDG_CONFIG_HOME', () => {
  const xdg = path.join(home, 'xdg');
  contexts({ XDG_CONFIG_HOME: xdg }).keep(kept('one'));
  expect(statSync(path.join(xdg, 'slipway/contexts.json')).isFile()).toBe(true);
});

it('never sends a kept token to an address from a variable', () => {
  contexts().keep(kept('one'));
  const away = { SLIPWAY_URL: 'https://elsewhere.example.com' };
  expect(() => contexts(away).chosen()).toThrow('SLIPWAY_URL is set, but SLIPWAY_TOKEN is not');
  expect(contexts({ ...away, SLIPWAY_TOKEN: 't' }).chosen()).toMatchObject({ url: away.SLIPWAY_URL, token: 't' });
  // A context that is named explicitly wins, whatever variables are set.
  expect(contexts({ ...away, SLIPWAY_TOKEN: 't' }).chosen('one')).toEqual(kept('one'));
});

const OWN = `slw_local_${'x'.repeat(40)}`;
const LOCAL = { name: 'local', url: 'http://127.0.0.1:7070', token: OWN, isHere: true };
const none = { SLIPWAY_HOME: '' };

/** Writes the home of a stack as `npm start` does. */
function stackIn(folder: string, { token = OWN, url }: { token?: string; url?: string } = {}): string {
  const slipway = path.join(folder, '.slipway');
  mkdirSync(path.join(slipway, 'run'), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(slipway, 'bootstrap-token'), `${token}\n`, { mode: 0o600 });
  if (url !== undefined) writeFileSync(path.join(slipway, 'run/api-url'), `${url}\n`, { mode: 0o600 });
  return slipway;
}

it('finds the stack of this folder or of a parent folder, at the address where it really listens', () => {
  stackIn(home);
  const deeper = path.join(home, 'a/b');
  mkdirSync(deeper, { recursive: true });
  expect(contexts(none, deeper).chosen()).toEqual(LOCAL);
  stackIn(home, { url: 'http://127.0.0.1:7171' });
  expect(contexts(none, deeper).chosen()).toEqual({ ...LOCAL, url: 'http://127.0.0.1:7171' });
  contexts().keep(kept('one'));
  expect(contexts(none, deeper).chosen()).toEqual(kept('one'));
});

it('knows the gateway of a stack, if it is of this machine, and gives it no token of a variable', () => {
  const slipway = stackIn(home, { url: LOCAL.url });
  const file = path.join(slipway, 'run/gateway-url');
  writeFileSync(file, 'http://127.0.0.1:7181\n', { mode: 0o600 });
  expect(contexts(none).chosen()).toEqual({ ...LOCAL, gatewayUrl: 'http://127.0.0.1:7181' });
  expect(contexts({ ...none, SLIPWAY_TOKEN: OWN }).chosen()).not.toHaveProperty('gatewayUrl');
  writeFileSync(file, 'https://elsewhere.example.com\n');
  expect(() => contexts(none).chosen()).toThrow('its address https://elsewhere.example.com is not one of this machine');
});

describe('the stack of the person, in ~/.slipway', () => {
  const elsewhere = () => {
    const folder = path.join(home, 'srv/work');
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const person = () => ({ ...none, HOME: path.join(home, 'ada') });

  it('is found from every folder that has no other stack', () => {
    stackIn(path.join(home, 'ada'));
    expect(contexts(person(), elsewhere()).chosen()).toEqual(LOCAL);
    stackIn(path.join(home, 'srv'), { url: 'http://127.0.0.1:7171' });
    expect(contexts(person(), elsewhere()).chosen().url).toBe('http://127.0.0.1:7171');
  });

  it('is the one that slipway up starts, unless SLIPWAY_HOME or a folder names another', () => {
    const own = path.join(home, 'ada/.slipway');
    expect(contexts(person(), elsewhere()).homeToStart()).toBe(own);
    const other = stackIn(path.join(home, 'srv'));
    expect(contexts(person(), elsewhere()).homeToStart()).toBe(other);
    expect(contexts({ ...person(), SLIPWAY_HOME: 'here' }, elsewhere()).homeToStart()).toBe(
      path.join(elsewhere(), 'here'),
    );
    chmodSync(other, 0o777);
    expect(() => contexts(person(), elsewhere()).homeToStart()).toThrow(`${other} is ignored: other users may change`);
  });
});

it('takes an address with or without /api/v1', () => {
  for (const end of ['', '/', '/api/v1', '/api/v1/']) {
    contexts().keep({ ...kept('one'), url: `https://one.example.com${end}` });
    expect(contexts().chosen().url).toBe('https://one.example.com');
    const given = { SLIPWAY_URL: `https://two.example.com/behind${end}`, SLIPWAY_TOKEN: 't' };
    expect(contexts(given).chosen().url).toBe('https://two.example.com/behind');
  }
});

describe('SLIPWAY_TOKEN without SLIPWAY_URL', () => {
  const SECRET = `slw_mine_${'y'.repeat(40)}`;
  const token = { ...none, SLIPWAY_TOKEN: SECRET };

  it('is for the usual address of this machine', () => {
    expect(contexts(token).chosen()).toMatchObject({ url: LOCAL.url, token: SECRET });
    stackIn(home, { url: LOCAL.url });
    expect(contexts(token).chosen()).toMatchObject({ url: LOCAL.url, token: SECRET });
  });

  it('is for the stack of SLIPWAY_HOME, which a variable named too', () => {
    const slipway = stackIn(home, { url: 'http://127.0.0.1:7171' });
    expect(contexts({ ...token, SLIPWAY_HOME: slipway }).chosen().url).toBe('http://127.0.0.1:7171');
    expect(() => contexts({ ...token, SLIPWAY_HOME: '.slipway' }).chosen()).toThrow('SLIPWAY_TOKEN');
  });

  it.each([
    ['on another port', 'http://127.0.0.1:7171'],
    ['of another machine', 'https://elsewhere.example.com'],
    ['of another machine that looks like this one', 'http://127.0.0.1.example.com:7070'],
    ['with a user name that looks like this machine', 'http://127.0.0.1:7070@elsewhere.example.com'],
    ['with a path', 'http://127.0.0.1:7070/collect?'],
    ['that is none', 'file:///etc/passwd'],
  ])('is never sent to an address in the folder: %s', (_what, url) => {
    const slipway = stackIn(home, { url });
    const deeper = path.join(home, 'a/b');
    mkdirSync(deeper, { recursive: true });
    for (const cwd of [home, deeper]) {
      const refusal = () => contexts(token, cwd).chosen();
      expect(refusal).toThrow('SLIPWAY_TOKEN is from the environment');
      expect(refusal).toThrow(slipway);
    }
  });

  it('is not sent to an address of a linked folder either', () => {
    const elsewhere = path.join(home, 'elsewhere');
    const slipway = stackIn(elsewhere, { url: 'http://127.0.0.1:7171' });
    symlinkSync(slipway, path.join(home, '.slipway'));
    expect(() => contexts(token).chosen()).toThrow('symbolic link');
  });
});

describe('a folder that someone else may have written', () => {
  it('gets no other secret as its token', () => {
    const secret = path.join(home, 'secret');
    writeFileSync(secret, 'aws_secret_access_key = abc', { mode: 0o600 });
    const slipway = stackIn(home);
    rmSync(path.join(slipway, 'bootstrap-token'));
    symlinkSync(secret, path.join(slipway, 'bootstrap-token'));
    expect(() => contexts(none).chosen()).toThrow('bootstrap-token is not a regular file');
    rmSync(path.join(slipway, 'bootstrap-token'));
    writeFileSync(path.join(slipway, 'bootstrap-token'), 'aws_secret_access_key = abc', { mode: 0o600 });
    expect(() => contexts(none).chosen()).toThrow('holds no token of Slipway');
    // The token of another stack would look like one.
    rmSync(path.join(slipway, 'bootstrap-token'));
    const other = stackIn(path.join(home, 'other'), { token: OWN.replaceAll('x', 'y') });
    linkSync(path.join(other, 'bootstrap-token'), path.join(slipway, 'bootstrap-token'));
    expect(() => contexts(none).chosen()).toThrow('bootstrap-token has another name');
  });

  it.each([
    ['its address is of another machine', { url: 'http://elsewhere.example.com' }, 'not one of this machine'],
    ['its address is far away, over https', { url: 'https://127.0.0.1:7070' }, 'not one of this machine'],
  ])('is ignored, and the message says why: %s', (_what, stack, why) => {
    stackIn(home, stack);
    expect(() => contexts(none).chosen()).toThrow(why);
  });

  it.each([
    ['.slipway', 0o777, 'other users may change'],
    ['.slipway/run', 0o770, 'other users may change'],
    ['.slipway/run/api-url', 0o666, 'other users may change'],
    ['.slipway/bootstrap-token', 0o644, 'other users may read'],
  ])('is ignored if others may write %s, or read the token', (part, mode, why) => {
    stackIn(home, { url: 'http://127.0.0.1:7171' });
    chmodSync(path.join(home, part), mode);
    expect(() => contexts(none).chosen()).toThrow(why);
  });

  it('does not hide the stack of a parent folder', () => {
    stackIn(home);
    const deeper = path.join(home, 'a');
    stackIn(deeper, { url: 'http://elsewhere.example.com' });
    expect(contexts(none, deeper).chosen()).toEqual(LOCAL);
  });
});

it('does not read contexts from a relative folder, nor from a file that others may change', () => {
  contexts({ HOME: path.join(home, 'x') }).keep(kept('one'));
  expect(contexts({ XDG_CONFIG_HOME: '.config', HOME: path.join(home, 'x') }).chosen()).toEqual(kept('one'));
  const { file } = contexts({ HOME: path.join(home, 'x') });
  chmodSync(file, 0o622);
  expect(() => contexts({ HOME: path.join(home, 'x') }).chosen()).toThrow('other users may change it');
});

it('reports which file is broken, and does not change it', () => {
  contexts().keep(kept('one'));
  const { file } = contexts();
  writeFileSync(file, '{');
  expect(() => contexts().chosen()).toThrow(file);
  expect(() => contexts().keep(kept('two'))).toThrow(file);
  expect(readFileSync(file, 'utf8')).toBe('{');
});

it('finds no context under the name of an inherited object property', () => {
  expect(() => contexts().chosen('constructor')).toThrow('The context constructor was not found');
});
