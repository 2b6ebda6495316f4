import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from './projects.js';

const SKIPPED = new Set(['node_modules', 'dist', 'fixtures', 'generated']);

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sourcesBelow(at);
    return entry.name.endsWith('.ts') ? [at] : [];
  });
}

/** Third-party packages that TypeScript files import. */
function importedPackages(): string[] {
  const files = ['apps', 'libs', 'tools'].flatMap((folder) => sourcesBelow(path.join(ROOT, folder)));
  const names = files.flatMap((file) =>
    ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName),
  );
  const isOther = (name: string): boolean => /^[@a-z][\w@/.-]*$/.test(name) && !name.startsWith('@slipway/');
  return [...new Set(names)].filter(isOther);
}

it('every package that a spec can load is bundled, or is excluded with a reason', async () => {
  const { THIRD_PARTY, UNBUNDLED } = (await import(path.join(ROOT, 'tools/test-runner/bundles.mjs'))) as {
    THIRD_PARTY: string[];
    UNBUNDLED: Record<string, string>;
  };
  const imported = importedPackages();
  expect(imported.filter((name) => !THIRD_PARTY.includes(name) && !Object.hasOwn(UNBUNDLED, name))).toEqual([]);
  const unused = [...THIRD_PARTY, ...Object.keys(UNBUNDLED)].filter((name) => !imported.includes(name));
  expect(unused).toEqual([]);
});
