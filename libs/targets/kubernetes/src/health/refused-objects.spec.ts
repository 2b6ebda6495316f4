import { expect, it } from '@jest/globals';
import { ApiError, UnreachableError } from '../api/errors.js';
import { PDBS, SERVICES, type KubeKind } from '../api/kinds.js';
import { RefusedObjects } from './refused-objects.js';

const object = (name: string, owner = 'rev_1', kind: KubeKind = PDBS, namespace = 'models') => ({
  kind,
  namespace,
  name,
  owner,
});
const FULL = 'poddisruptionbudgets.policy "slw-a" is forbidden: exceeded quota: objects';
function error(status: number, message: string): ApiError {
  const call = { verb: 'patch', resource: 'x', group: '', namespace: 'models' };
  return new ApiError(call, status, { kind: 'Status', reason: 'Forbidden', message });
}

it('is one sentence for each kind and namespace, with its count, the words of the server and the time', () => {
  const refused = new RefusedObjects();
  expect([refused.message, refused.of('rev_1')]).toEqual([undefined, undefined]);
  for (const name of ['slw-a', 'slw-b']) refused.note(object(name), 'created', error(403, FULL));
  refused.note(object('slw-c', 'rev_2', SERVICES, 'models-acme'), 'changed', error(500, 'failed calling webhook "x"'));
  expect(refused.message).toMatch(
    /^2 objects of kind PodDisruptionBudget cannot be created in namespace models, since 20\S+: poddis.*exceeded quota: objects\. 1 object of kind Service cannot be changed in namespace models-acme, since 20\S+: failed calling webhook "x"\.$/,
  );
  expect(refused.of('rev_2')).toMatch(/^Service slw-c cannot be changed in namespace models-acme since 20\S+: failed/);
  for (const name of ['slw-a', 'slw-b']) refused.settle(object(name));
  refused.forget('rev_2');
  expect(refused.message).toBeUndefined();
});

it('is no trouble of the connection, and keeps the first time of a refusal', async () => {
  const refused = new RefusedObjects();
  refused.note(object('slw-a'), 'created', new UnreachableError('https://x', 'ECONNREFUSED', 'away'));
  refused.note(object('slw-a'), 'created', error(401, 'Unauthorized'));
  expect(refused.message).toBeUndefined();
  refused.note(object('slw-a'), 'created', error(403, FULL));
  const first = refused.of('rev_1');
  await new Promise((done) => setTimeout(done, 5));
  refused.note(object('slw-a'), 'created', error(403, FULL));
  expect(refused.of('rev_1')).toBe(first);
});

it('is limited, whatever is refused', () => {
  const refused = new RefusedObjects();
  for (let n = 0; n < 5_000; n += 1)
    refused.note(
      object(`slw-${n}`, 'rev_1', PDBS, `models-${n % 50}`),
      'created',
      error(403, `no ${'x'.repeat(5_000)}`),
    );
  expect(refused.message).toMatch(/^20 objects .*46 more kinds of objects are refused\.$/s);
  expect(refused.message!.length).toBeLessThan(1_900);
  expect(refused.of('rev_1')!.length).toBeLessThan(1_300);
});
