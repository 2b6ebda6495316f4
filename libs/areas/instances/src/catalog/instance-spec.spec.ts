import { expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { placeholderSecrets, toInstanceSpec } from './target-catalog.js';

const spec = { model: { id: 'tiny' }, runtime: { target: 'cluster', engine: 'sim' } } as RevisionSpec;
const of = (scaling?: RevisionSpec['scaling']) =>
  toInstanceSpec(
    { ...spec, ...(scaling && { scaling }) } as RevisionSpec,
    { id: 'i', generation: 1, tenantName: 'acme' },
    placeholderSecrets,
  );

it('an instance spec contains the scaling of the revision, with defaults for the missing values', () => {
  expect(of({ min_replicas: 2 }).scaling).toMatchObject({ min_replicas: 2, max_replicas: 2 });
  expect(of({ min_replicas: 0, max_replicas: 4 }).scaling).toMatchObject({ min_replicas: 0, max_replicas: 4 });
  expect(of()).not.toHaveProperty('scaling');
});
