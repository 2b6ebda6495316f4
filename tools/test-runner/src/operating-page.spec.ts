import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = ['alerts', 'daily-operation', 'metrics', 'logs', 'guides/back-up', 'guides/restore', 'guides/upgrade']
  .map((name) => readFileSync(path.join(root, `docs/${name}.md`), 'utf8'))
  .join('\n');

const named = (pattern: RegExp): string[] => [
  ...new Set([...page.matchAll(pattern)].map(([, name]) => name as string)),
];

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', 'test', 'testing'].includes(entry.name)) return [];
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return sourcesBelow(file);
    return /(?<!\.spec)\.ts$/.test(entry.name) ? [readFileSync(file, 'utf8')] : [];
  });
}

it('the operating page names only scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: object };
  const asked = named(/npm run ([a-z][a-z-]*)/g);
  expect(asked).toEqual(expect.arrayContaining(['backup', 'restore', 'migrate', 'rotate-secret-key', 'audit-verify']));
  expect(asked.filter((name) => !(name in scripts))).toEqual([]);
});

it('the operating page names only commands that also exist in a container', () => {
  const commands = named(/npm run ([a-z][a-z-]*)/g);
  expect(commands.filter((name) => !existsSync(path.join(root, `apps/api/src/${name}.ts`)))).toEqual([]);
});

it('the operating page names only metrics that are counted', () => {
  const sources = ['apps', 'libs'].flatMap((folder) => sourcesBelow(path.join(root, folder))).join('\n');
  const metrics = named(/`(slipway_[a-z_]+)`/g).filter((name) => !/^slipway_(tenant|system|gateway)$/.test(name));
  expect(metrics.length).toBeGreaterThan(10);
  // One statement exposes all distributions, with the name of each in a separate list.
  const isCounted = (name: string): boolean =>
    sources.includes(name) ||
    (sources.includes('slipway_gateway_$') && sources.includes(name.replace('slipway_gateway_', '')));
  expect(metrics.filter((name) => !isCounted(name))).toEqual([]);
});

it('the operating page names only variables that .env.example lists', () => {
  const known = readFileSync(path.join(root, 'docker/.env.example'), 'utf8');
  const ours = named(/\b(SLIPWAY_[A-Z_]+)\b/g);
  expect(ours.filter((name) => !new RegExp(`^#? ?${name}=`, 'm').test(known))).toEqual([]);
});

it('the operating page names only files that exist', () => {
  const files = named(/`((?:docker|apps|libs|docs)\/[\w./-]+\.\w+)`/g).concat(named(/\]\(\.\.\/([\w./-]+)/g));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

it('docs/events.md lists every type of event that an area appends, and no other', () => {
  const sources = sourcesBelow(path.join(root, 'libs/areas')).concat(
    sourcesBelow(path.join(root, 'libs/platform/durable/src')),
  );
  const appended = sources.flatMap((source) => [
    ...source.matchAll(/(?:type: |(?:event|told|reports?)\(\s*)'([a-z]+\.[a-z_]+)'/g),
  ]);
  const listed = [...readFileSync(path.join(root, 'docs/events.md'), 'utf8').matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(
    ([, type]) => type,
  );
  expect(appended.map(([, type]) => type).filter((type) => !listed.includes(type))).toEqual([]);
  const all = sources.join('\n');
  // The code writes `plan.${decision}`, which names two events.
  const unknown = listed.filter(
    (type) => !all.includes(`'${type}'`) && !/^(?:plan\.(?:approved|rejected)|data\.)/.test(type!),
  );
  expect(unknown).toEqual([]);
});
