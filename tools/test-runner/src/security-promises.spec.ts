import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Names of spec files without their extension, as the table of promises cites them: `guard`, `tokens.int`, `reach.e2e`. */
function specsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist'].includes(entry.name)) return [];
    if (entry.isDirectory()) return specsBelow(path.join(folder, entry.name));
    return entry.name.endsWith('.spec.ts') ? [entry.name.slice(0, -'.spec.ts'.length)] : [];
  });
}

const page = readFileSync(path.join(root, 'docs/threat-model.md'), 'utf8');
const part = (from: string, to: string) => page.slice(page.indexOf(from), page.indexOf(to));
const rows = part('## What Slipway promises', '## Clocks, networks and crashes')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| promise |'))
  .map((line) => line.slice(2, -2).split(' | '));

it('each promise names tests, and all of them exist', () => {
  const specs = new Set(['apps', 'libs', 'tools'].flatMap((folder) => specsBelow(path.join(root, folder))));
  expect(rows.length).toBeGreaterThan(90);
  const wrong = rows.filter(([, , tests = '']) => {
    const names = [...tests.matchAll(/`([a-z0-9.-]+)`/g)].map(([, name]) => name as string);
    return names.length === 0 || names.some((name) => !specs.has(name));
  });
  expect(wrong).toEqual([]);
});

it('each promise names an attacker of the page', () => {
  const attackers = part('## Attackers', '## What Slipway promises').toLowerCase();
  expect(rows.filter(([, attacker]) => !attackers.includes((attacker as string).toLowerCase()))).toEqual([]);
});
