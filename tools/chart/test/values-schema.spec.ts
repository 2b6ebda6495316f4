import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { CHART, exampleValues, isBag, readYaml, type Bag } from '../src/chart.js';
import { valuesOf } from './merged-values.js';

const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8'));
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
const MINIMAL = exampleValues().get('minimal')!;

const volume = (fields: Bag): Bag => ({ worker: { extraVolumes: [{ name: 'extra', ...fields }] } });

const problemsOf = (values: Bag): string[] => {
  validate(values);
  return (validate.errors ?? []).map(({ instancePath, params, keyword }) =>
    keyword === 'additionalProperties' ? `${instancePath}/${params['additionalProperty']}` : instancePath,
  );
};

it('the chart has values for production, and examples without values, with Secrets, for several replicas and for tenants', () => {
  expect([...exampleValues().keys()].sort()).toEqual(['default', 'ha', 'minimal', 'multi-tenant', 'production']);
});

it.each([...exampleValues()])('the schema accepts the example %s', (_name, file) => {
  expect(problemsOf(valuesOf(file))).toEqual([]);
});

describe('the schema refuses and names', () => {
  it.each<[string, Bag, string]>([
    ['an unknown key', { replicaCount: 3 }, '/replicaCount'],
    ['a misspelled key', { gateway: { replica: 3 } }, '/gateway/replica'],
    ['a password', { database: { password: 'hunter2' } }, '/database/password'],
    ['a key in the values', { secretKey: { value: 'AAAA' } }, '/secretKey/value'],
    ['no replica', { api: { replicas: 0 } }, '/api/replicas'],
    ['a number as a text', { worker: { replicas: '2' } }, '/worker/replicas'],
    ['an HPA of the worker', { worker: { hpa: { enabled: true } } }, '/worker/hpa'],
    ['an unknown queue', { queue: { backend: 'kafka' } }, '/queue/backend'],
    ['a folder as the shared store', { workspace: { store: 'file:/data' } }, '/workspace/store'],
    ['a variable that the chart sets', { settings: { DATABASE_URL: 'x' } }, '/settings/DATABASE_URL'],
    ['a variable that is a secret', { settings: { SLIPWAY_METRICS_TOKEN: 'x' } }, '/settings/SLIPWAY_METRICS_TOKEN'],
    ['a variable for tests', { settings: { SLIPWAY_PAUSE_POINT: 'x' } }, '/settings/SLIPWAY_PAUSE_POINT'],
    ['an invalid digest', { image: { digests: { api: 'latest' } } }, '/image/digests/api'],
    ['an invalid namespace', { targets: { namespaces: [{ name: 'Models_A' }] } }, '/targets/namespaces/0/name'],
    ['a namespace without a name', { targets: { namespaces: [{ quota: {} }] } }, '/targets/namespaces/0'],
    ['an invalid quantity', { gateway: { persistence: { size: 'much' } } }, '/gateway/persistence/size'],
    ['an impossible port', { networkPolicy: { database: { port: 70000 } } }, '/networkPolicy/database/port'],
    ['a label that the chart sets', { api: { podLabels: { 'app.kubernetes.io/name': 'x' } } }, '/api/podLabels'],
    ['a variable of Slipway in extraEnv', { api: { extraEnv: [{ name: 'SLIPWAY_HOME' }] } }, '/api/extraEnv/0/name'],
    ['a volume of the node', volume({ hostPath: { path: '/' } }), '/worker/extraVolumes/0/hostPath'],
    [
      'the token of an account',
      volume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }),
      '/worker/extraVolumes/0/projected/sources/0/serviceAccountToken',
    ],
    ['a volume with a name of the chart', volume({ name: 'home', emptyDir: {} }), '/worker/extraVolumes/0/name'],
    [
      'a mount of a volume of the chart',
      { gateway: { extraVolumeMounts: [{ name: 'config', mountPath: '/x' }] } },
      '/gateway/extraVolumeMounts/0/name',
    ],
    ['targets that are not a list', { config: { targets: {} } }, '/config/targets'],
  ])('%s', (_what, changes, at) => {
    expect(problemsOf(valuesOf(MINIMAL, changes))).toContain(at);
  });
});

it('the schema contains exactly the keys of values.yaml', () => {
  const known = keysOf(schema, schema);
  const written = keysOfValues(readYaml(path.join(CHART, 'values.yaml')), schema);
  expect(known.filter((key) => key !== 'global').sort()).toEqual(written.sort());
});

/** A mapping that the schema leaves open counts as one key. */
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
