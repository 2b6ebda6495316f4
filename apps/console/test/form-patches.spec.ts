import { describe, expect, it } from '@jest/globals';
import { requestSchema } from '../request-schemas.mjs';
import { draftOf, patchOf, withAt, type Draft } from '../src/forms/draft.js';
import { kindOf, schemaAt, type Path } from '../src/forms/schema.js';

/** An answer of the api, which has fields that no request has. */
const DEPLOYMENT = {
  id: 'dep_1',
  name: 'chat',
  display_name: 'Chat',
  description: null,
  labels: { team: 'search', tier: '1' },
  environment: 'production',
  default_strategy: {
    type: 'canary',
    steps: [{ traffic_percent: 5, soak_seconds: 180, requires_approval: false, pause: false }],
    hold_seconds: null,
    bake: null,
  },
  default_analysis: null,
  revision_history_limit: 10,
  protection: { deletion: true, rollouts: 'any' },
  replicas: { desired: 1, ready: 1 },
};
const schema = requestSchema('updateDeployment');
const began = draftOf(schema, DEPLOYMENT);
const changed = (...changes: [Path, Draft][]) =>
  patchOf(
    schema,
    began,
    changes.reduce((draft, [path, value]) => withAt(draft, path, value), began),
  );

describe('the patch that a form makes', () => {
  it('is empty as long as nothing is changed, also with fields that the form does not have', () =>
    expect(changed()).toEqual({}));

  it('has only what was changed', () =>
    expect(
      changed([['description'], 'For search'], [['revision_history_limit'], '5'], [['protection', 'deletion'], false]),
    ).toEqual({ description: 'For search', revision_history_limit: 5, protection: { deletion: false } }));

  it('removes what was emptied with null, and labels by their names', () =>
    expect(changed([['display_name'], ' '], [['labels'], 'tier=2'], [['default_strategy'], {}])).toEqual({
      display_name: null,
      labels: { team: null, tier: '2' },
      default_strategy: null,
    }));

  it('replaces a list completely', () =>
    expect(changed([['default_strategy', 'steps', 0, 'traffic_percent'], '10'])).toEqual({
      default_strategy: { steps: [{ traffic_percent: 10, soak_seconds: 180, requires_approval: false, pause: false }] },
    }));
});

it.each<[Path, string]>([
  [['default_strategy'], 'group'],
  [['default_strategy', 'steps'], 'rows'],
  [['default_strategy', 'type'], 'choice'],
  [['scaling'], 'group'],
  [['labels'], 'pairs'],
])('a part that may be null is edited like one that may not: %j is a %s', (path, kind) =>
  expect(kindOf(schemaAt(schema, path)!)).toBe(kind),
);
