import path from 'node:path';
import { expect, it } from '@jest/globals';
import { insert, servicesOf } from './compose.js';

const FILE = path.resolve(import.meta.dirname, '../../../docker/compose.yaml');
const REQUIRED = {
  SLIPWAY_SECRET_KEY: 'key',
  SLIPWAY_BOOTSTRAP_TOKEN: 'token',
  POSTGRES_PASSWORD: 'p',
  SLIPWAY_APP_PASSWORD: 'a',
  SLIPWAY_GATEWAY_PASSWORD: 'g',
  REDIS_PASSWORD: 'r',
};

it.each([
  ['a ${B} c', 'a b c'],
  ['${NONE:-x${B}y}', 'xby'],
  ['${EMPTY:-x}', 'x'],
  ['${B:?missing}', 'b'],
  ['$$HOME', '$HOME'],
  ['${NONE:-http://${B}:${NONE:-1}}', 'http://b:1'],
])('%s is %s', (text, expected) => {
  expect(insert(text, { B: 'b', EMPTY: '' })).toBe(expected);
});

it('a missing variable that is required, and an expression that Compose has and this code does not know, are errors', () => {
  expect(() => insert('${NONE:?see .env.example}', {})).toThrow('NONE: see .env.example');
  expect(() => insert('${B+x}', { B: 'b' })).toThrow('unknown expression: B+x');
});

it('each process gets its own login and only variables that are set', () => {
  const { api, gateway, migrate, worker } = servicesOf(FILE, REQUIRED);
  expect(api!.environment['DATABASE_URL']).toBe('postgres://slipway_app:a@postgres:5432/slipway');
  expect(gateway!.environment['DATABASE_URL']).toBe('postgres://slipway_gateway_app:g@postgres:5432/slipway');
  expect(worker!.environment).toMatchObject({ QUEUE_BACKEND: 'redis', REDIS_URL: 'redis://:r@redis:6379' });
  expect(migrate!.environment['SLIPWAY_MIGRATE_DATABASE_URL']).toBe('postgres://slipway:p@postgres:5432/slipway');
  expect(api!.environment).not.toHaveProperty('HTTP_PROXY');
  expect([api!.replicas, worker!.replicas, gateway!.replicas]).toEqual([2, 2, 2]);
  expect(servicesOf(FILE, { ...REQUIRED, HTTP_PROXY: 'http://p' }).api!.environment['HTTP_PROXY']).toBe('http://p');
});
