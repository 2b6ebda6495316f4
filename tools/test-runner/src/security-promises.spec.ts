import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Names of spec files without their extension, as SECURITY.md cites them: `guard`, `tokens.int`, `reach.e2e`. */
function specsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist'].includes(entry.name)) return [];
    if (entry.isDirectory()) return specsBelow(path.join(folder, entry.name));
    return entry.name.endsWith('.spec.ts') ? [entry.name.slice(0, -'.spec.ts'.length)] : [];
  });
}

it('each test that SECURITY.md names for a promise exists', () => {
  const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
  const promises = text.slice(text.indexOf('## What Slipway promises'), text.indexOf('## What it does not promise'));
  const lists = promises.match(/\((?:\[[^\]]*\]\([^)]*\),? ?)*(?:`[a-z0-9.-]+`(?:,\s)?)+\)/g) ?? [];
  const cited = new Set(lists.flatMap((list) => [...list.matchAll(/`([a-z0-9.-]+)`/g)].map(([, name]) => name)));
  expect(cited.size).toBeGreaterThan(30);
  const specs = new Set(['apps', 'libs', 'tools'].flatMap((folder) => specsBelow(path.join(root, folder))));
  expect([...cited].filter((name) => !specs.has(name as string))).toEqual([]);
});
