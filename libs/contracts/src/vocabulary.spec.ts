import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { AUDIT_ACTIONS, AUDITED_RESOURCES } from './audit-actions.js';
import { EVENT_TYPES } from './event-types.js';
import { OPERATION_KINDS } from './statuses.js';
import { namesOf, patternsOf } from './name-patterns.js';

const root = path.resolve(import.meta.dirname, '../../..');

/** Returns the captures of the pattern in the product code of a folder, with repetitions. */
function capturesIn(folder: string, pattern: RegExp, skippedFolders: RegExp): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /[/\\]src[/\\].*\.ts$/.test(file) && !/\.spec\.ts$/.test(file) && !skippedFolders.test(file))
    .flatMap((file) => [...readFileSync(path.join(root, folder, file), 'utf8').matchAll(pattern)])
    .map(([, captured]) => captured!);
}

/** All names with a dot in the code of the areas and of the platform under them, as literals. */
const written = new Set(
  ['libs/areas', 'libs/platform'].flatMap((folder) =>
    capturesIn(folder, /'([a-z_]+\.[a-z_]+)'/g, /[/\\](?:migrations|dist)[/\\]/),
  ),
);

/** Names that the code puts together. */
const COMPOSED = [
  ...['delete', 'update'].map((verb) => `model_api_product.${verb}`),
  ...['approved', 'rejected'].map((decision) => `plan.${decision}`),
  ...['cancel', 'pause', 'promote', 'resume', 'retry'].map((action) => `operation.${action}`),
];

it('has every type of event and every action that the code writes, and no other', () => {
  const known = [...Object.keys(EVENT_TYPES), ...Object.keys(AUDIT_ACTIONS)];
  const families = new Set(known.map((name) => name.split('.')[0]));
  const found = [...written].filter((name) => families.has(name.split('.')[0]));
  expect(found.filter((name) => !known.includes(name))).toEqual([]);
  expect(known.filter((name) => !written.has(name) && !COMPOSED.includes(name))).toEqual([]);
});

it('has every type of resource of an audit row', () => {
  const found = capturesIn('libs/areas', /resourceType: '([a-z_]+)'/g, /[/\\](?:testing|dist)[/\\]/);
  expect([...new Set([...found, 'operation'])].sort()).toEqual([...AUDITED_RESOURCES]);
});

it('has every kind of operation', () => {
  const found = capturesIn('libs/areas', /defineOperation\(\{\s*kind: '([a-z_]+)'/g, /[/\\]dist[/\\]/);
  expect(found.sort()).toEqual([...OPERATION_KINDS].sort());
});

it('is the table of docs/events.md', () => {
  const page = readFileSync(path.join(root, 'docs/events.md'), 'utf8');
  const rows = page
    .slice(page.indexOf('## Types'))
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const expected = Object.entries(EVENT_TYPES).map(
    ([type, { when, data }]) => `| \`${type}\` | ${when} | ${data.map((field) => `\`${field}\``).join(', ')} |`,
  );
  expect(rows).toEqual(expected);
});

it('is selected by names and by patterns', () => {
  const names = ['rollout.started', 'rollout.paused', 'rollback.started'];
  expect(patternsOf(names)).toEqual([
    'rollback.*',
    'rollback.started',
    'rollout.*',
    'rollout.paused',
    'rollout.started',
  ]);
  expect(namesOf('rollout.*', names)).toEqual(['rollout.started', 'rollout.paused']);
  expect(namesOf('rollout.paused', names)).toEqual(['rollout.paused']);
  expect(namesOf('rollout', names)).toEqual([]);
});
