import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { CHART, exampleValues, isBag, readYaml, type Bag } from '../src/chart.js';
import { valuesOf } from './merged-values.js';

const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8'));
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
const MINIMAL = exampleValues().get('minimal')!;

const problemsOf = (values: Bag): string[] => {
  validate(values);
  return (validate.errors ?? []).map(({ instancePath, params, keyword }) =>
    keyword === 'additionalProperties' ? `${instancePath}/${params['additionalProperty']}` : instancePath,
  );
};

it('has an example for a trial, for several replicas and for tenants', () => {
  expect([...exampleValues().keys()].sort()).toEqual(['ha', 'minimal', 'multi-tenant']);
});

it.each([...exampleValues()])('takes the example %s', (_name, file) => {
  expect(problemsOf(valuesOf(file))).toEqual([]);
});

it('wants the two Secrets without which nothing starts', () => {
  expect(problemsOf(readYaml(path.join(CHART, 'values.yaml')))).toEqual([
    '/database/existingSecret',
    '/secretKey/existingSecret',
  ]);
});

describe('refuses by name', () => {
  it.each<[string, Bag, string]>([
    ['a key that there is not', { replicaCount: 3 }, '/replicaCount'],
    ['a misspelled key', { gateway: { replica: 3 } }, '/gateway/replica'],
    ['a password', { database: { password: 'hunter2' } }, '/database/password'],
    ['a key in the values', { secretKey: { value: 'AAAA' } }, '/secretKey/value'],
    ['no replica', { api: { replicas: 0 } }, '/api/replicas'],
    ['a number as a text', { worker: { replicas: '2' } }, '/worker/replicas'],
    ['an HPA of the worker', { worker: { hpa: { enabled: true } } }, '/worker/hpa'],
    ['a queue that there is not', { queue: { backend: 'kafka' } }, '/queue/backend'],
    ['a folder as the store of all', { workspace: { store: 'file:/data' } }, '/workspace/store'],
    ['a variable that the chart sets', { settings: { DATABASE_URL: 'x' } }, '/settings/DATABASE_URL'],
    ['a variable that is a secret', { settings: { SLIPWAY_METRICS_TOKEN: 'x' } }, '/settings/SLIPWAY_METRICS_TOKEN'],
    ['a variable for tests', { settings: { SLIPWAY_PAUSE_POINT: 'x' } }, '/settings/SLIPWAY_PAUSE_POINT'],
    ['a digest that is none', { image: { digests: { api: 'latest' } } }, '/image/digests/api'],
    ['a namespace that cannot be', { targets: { namespaces: [{ name: 'Models_A' }] } }, '/targets/namespaces/0/name'],
    ['a namespace without a name', { targets: { namespaces: [{ quota: {} }] } }, '/targets/namespaces/0'],
    ['a quantity that is none', { gateway: { persistence: { size: 'much' } } }, '/gateway/persistence/size'],
    ['a port that there is not', { networkPolicy: { database: { port: 70000 } } }, '/networkPolicy/database/port'],
    ['a label of ours', { api: { podLabels: { 'app.kubernetes.io/name': 'x' } } }, '/api/podLabels'],
    ['targets that are no list', { config: { targets: {} } }, '/config/targets'],
  ])('%s', (_what, changes, at) => {
    expect(problemsOf(valuesOf(MINIMAL, changes))).toContain(at);
  });
});

it('knows every key of values.yaml, and has no key that is not there', () => {
  const known = keysOf(schema, schema);
  const written = keysOfValues(readYaml(path.join(CHART, 'values.yaml')), schema);
  expect(known.filter((key) => key !== 'global').sort()).toEqual(written.sort());
});

/** Mappings that the schema lets be open are one key. */
function keysOf(node: Bag, root: Bag, at = ''): string[] {
  const target = resolved(node, root);
  const properties = target['additionalProperties'] === false ? target['properties'] : undefined;
  if (!isBag(properties) || at === 'settings') return [at];
  return Object.entries(properties).flatMap(([key, one]) => keysOf(one as Bag, root, at === '' ? key : `${at}.${key}`));
}

function keysOfValues(value: unknown, node: Bag, at = ''): string[] {
  const target = resolved(node, schema);
  const isClosed = target['additionalProperties'] === false && at !== 'settings';
  if (!isBag(value) || !isClosed) return [at];
  return Object.entries(value).flatMap(([key, one]) =>
    keysOfValues(one, (target['properties'] as Bag)[key] as Bag, at === '' ? key : `${at}.${key}`),
  );
}

function resolved(node: Bag, root: Bag): Bag {
  const reference = node['$ref'];
  if (typeof reference !== 'string') return node;
  return (root['definitions'] as Bag)[reference.replace('#/definitions/', '')] as Bag;
}
