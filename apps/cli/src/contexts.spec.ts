import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { Contexts } from './contexts.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'slipway-contexts-'));
});

const contexts = (env: Record<string, string> = {}, cwd = home) =>
  new Contexts({ HOME: home, SLIPWAY_HOME: path.join(home, 'none'), ...env }, cwd);
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

it('finds the stack of this folder or of a parent folder, at the address where it really listens', () => {
  const run = path.join(home, '.slipway/run');
  mkdirSync(run, { recursive: true });
  writeFileSync(path.join(home, '.slipway/bootstrap-token'), 'slw_local\n');
  const deeper = path.join(home, 'a/b');
  mkdirSync(deeper, { recursive: true });
  const none = { SLIPWAY_HOME: '' };
  const local = { name: 'local', url: 'http://127.0.0.1:7070', token: 'slw_local' };
  expect(contexts(none, deeper).chosen()).toEqual(local);
  writeFileSync(path.join(run, 'api-url'), 'http://127.0.0.1:7171\n');
  expect(contexts(none, deeper).chosen()).toEqual({ ...local, url: 'http://127.0.0.1:7171' });
  expect(contexts({ ...none, SLIPWAY_TOKEN: 't' }, deeper).chosen()).toMatchObject({ url: 'http://127.0.0.1:7171' });
  contexts().keep(kept('one'));
  expect(contexts(none, deeper).chosen()).toEqual(kept('one'));
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
