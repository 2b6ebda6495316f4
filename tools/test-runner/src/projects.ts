import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const SKIPPED = new Set(['node_modules', 'dist', 'fixtures']);

/** Parent folders of projects, as `workspaces` in the root's package.json lists them. */
const PARENTS = ['apps', 'libs', 'tools', ...childrenOf('libs')];

/** Every folder with tests, relative to the root: `libs/areas/routing`. */
export const PROJECTS = PARENTS.flatMap(childrenOf)
  .filter((folder) => existsSync(path.join(ROOT, folder, 'jest.config.mjs')))
  .sort();

/** Projects whose suites start whole stacks. They run after the libraries, with fewer workers, because each suite is several processes. */
const END_TO_END = new Set(['apps/api', 'apps/worker', 'tools/quickstart']);

export const GROUPS = {
  libraries: PROJECTS.filter((project) => !END_TO_END.has(project)),
  'end-to-end': PROJECTS.filter((project) => END_TO_END.has(project)),
};

export type GroupName = keyof typeof GROUPS;

/**
 * Every spec file that matches one of the patterns, relative to the root. `*` matches within a name, `**` any folders.
 */
export function specsThatFit(patterns: readonly string[]): string[] {
  const expressions = patterns.map(expressionOf);
  return allSpecs().filter((file) => expressions.some((expression) => expression.test(file)));
}

export function expressionOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*)/).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    return part === '*' ? '[^/]*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}$`);
}

let specs: string[] | undefined;

function allSpecs(): string[] {
  return (specs ??= PROJECTS.flatMap((project) => specsBelow(project)).sort());
}

function specsBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const at = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : specsBelow(at);
    return entry.name.endsWith('.spec.ts') ? [at] : [];
  });
}

function childrenOf(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name))
    .map((entry) => path.posix.join(folder, entry.name));
}
