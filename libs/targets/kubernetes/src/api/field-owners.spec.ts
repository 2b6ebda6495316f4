import { expect, it } from '@jest/globals';
import { fieldText, keepForeignFields, valueAt } from './field-owners.js';
import type { ObjectMeta } from './objects.js';

const entry = (manager: string, fieldsV1: object, more: object = {}) => ({
  manager,
  operation: 'Update',
  fieldsV1,
  ...more,
});
const foreignOf = (...managedFields: unknown[]) => {
  const metadata: ObjectMeta = { name: 'x', managedFields };
  keepForeignFields(metadata);
  expect(metadata).not.toHaveProperty('managedFields');
  return metadata.foreign?.map((field) => [fieldText(field), field.manager]);
};

it('a field belongs to others if another client has set it, and its path can be read', () => {
  const engine = { 'k:{"name":"engine"}': { '.': {}, 'f:image': {} } };
  const edited = { 'f:spec': { 'f:replicas': {}, 'f:template': { 'f:spec': { 'f:containers': engine } } } };
  const labelled = {
    'f:metadata': { 'f:labels': { '.': {}, 'f:team': {} }, 'f:finalizers': { '.': {}, 'v:"a/b"': {} } },
  };
  expect(foreignOf(entry('kubectl-edit', edited), entry('kubectl-label', labelled))).toEqual([
    ['spec.replicas', 'kubectl-edit'],
    ['spec.template.spec.containers[engine].image', 'kubectl-edit'],
    ['metadata.labels.team', 'kubectl-label'],
    ['metadata.finalizers[a/b]', 'kubectl-label'],
  ]);
});

it.each<[string, unknown]>([
  ['of Slipway', entry('slipway', { 'f:spec': { 'f:replicas': {} } })],
  ['of a stop', entry('slipway-stop', { 'f:spec': { 'f:replicas': {} } })],
  ['in the status', entry('kubelet', { 'f:spec': { 'f:a': {} } }, { subresource: 'status' })],
  [
    'of the controller that made the object',
    entry('k3s', { 'f:metadata': { 'f:generateName': {} }, 'f:spec': { 'f:a': {} } }),
  ],
  [
    'of the controller of Deployments',
    entry('kcm', { 'f:metadata': { 'f:annotations': { '.': {}, 'f:deployment.kubernetes.io/revision': {} } } }),
  ],
  ['that is an empty mapping', entry('kubectl', { 'f:metadata': { 'f:labels': { '.': {} } } })],
  ['without a form', { manager: 1, fieldsV1: 'x' }],
  ['without anything', null],
])('a field %s is not reported', (_which, managed) => expect(foreignOf(managed)).toBeUndefined());

it('an object with very many foreign fields keeps fifty', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f:a${at}`, {}]));
  expect(foreignOf(entry('x', { 'f:spec': many }))).toHaveLength(50);
});

it('a field is found in an object, also in an item of a list', () => {
  const object = { spec: { ports: [{ port: 1 }, { port: 2, name: 'b' }], set: ['x'] } };
  expect(valueAt(object, ['spec', 'ports', 'k:{"port":2}', 'name'])).toBe('b');
  expect(valueAt(object, ['spec', 'ports', 'k:{"port":3}', 'name'])).toBeUndefined();
  expect(valueAt(object, ['spec', 'set', 'v:"x"'])).toBe('x');
  expect(valueAt(object, ['spec', 'toString'])).toBeUndefined();
});
