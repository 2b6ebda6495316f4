import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checks, counts, findingsIn, readWorkspace, workspaceOf } from '../structure.mjs';

const root = path.resolve(import.meta.dirname, '../../..');

/** The findings of a check in a few files, as `path: text`. */
function find(check: string, files: Record<string, string>, reasons: Record<string, string> = {}) {
  const found = checks.find(({ name }) => name === check)!.find(workspaceOf(files), reasons);
  return found.map(({ file, line, text }) => `${file}:${line} ${text}`);
}

const LONG = 'export const line = 1;\n'.repeat(40);
const manifest = (name: string, exports: object) => JSON.stringify({ name: `@slipway/${name}`, exports });

describe('the workspace', () => {
  const workspace = readWorkspace(root);
  const found = findingsIn(workspace);

  it.each(checks)('has no finding of $name', ({ name }) => {
    expect(found[name].map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
  });

  it('is counted', () => {
    const named = new Map(counts(workspace));
    expect(named.get('product files')).toBeGreaterThan(1000);
    expect(named.get('packages')).toBeGreaterThan(40);
  });
});

describe('small-file', () => {
  const user = `import { half } from './half.js';\n${LONG}`;

  it('reports a short file with one importer', () => {
    expect(
      find('small-file', { 'libs/x/src/half.ts': 'export const half = 1;\n', 'libs/x/src/user.ts': user }),
    ).toEqual(['libs/x/src/half.ts:1 1 lines: merge it with libs/x/src/user.ts, its only importer']);
  });

  it('counts a type import, and ignores tests', () => {
    const files = {
      'libs/x/src/half.ts': 'export interface Half {}\n',
      'libs/x/src/user.ts': `import type { Half } from './half.js';\n${LONG}`,
      'libs/x/src/half.spec.ts': "import type { Half } from './half.js';\n",
      'libs/x/test/bed.ts': "import type { Half } from '../src/half.js';\n",
    };
    expect(find('small-file', files)).toHaveLength(1);
  });

  it('accepts a second importer, even in another package', () => {
    const half = { 'libs/x/src/half.ts': 'export const half = 1;\n', 'libs/x/src/user.ts': user };
    expect(find('small-file', { ...half, 'libs/x/src/other.ts': user })).toEqual([]);
    const index = {
      ...half,
      'libs/x/src/user.ts': LONG,
      'libs/x/package.json': manifest('x', { '.': { '@slipway/source': './src/index.ts' } }),
      'libs/x/src/index.ts': "export { half } from './half.js';\n",
    };
    expect(find('small-file', index)).toEqual([
      'libs/x/src/half.ts:1 1 lines: only libs/x/src/index.ts exports it, and no product file imports it: delete the export, or merge it with the file it is read with',
    ]);
    const other = { 'libs/y/src/long.ts': `import { half } from '@slipway/x';\n${LONG}` };
    expect(find('small-file', { ...index, ...other })).toEqual([]);
  });

  it.each([
    'libs/areas/x/src/x.dto.ts',
    'libs/areas/x/src/x.module.ts',
    'libs/areas/x/src/x.errors.ts',
    'libs/ports/src/x.port.ts',
    'libs/areas/x/src/migrations/1-x.ts',
    'libs/areas/x/src/index.ts',
    'apps/x/src/main.ts',
  ])('accepts a role of the area template: %s', (file) => {
    const name = path.posix.basename(file, '.ts');
    const importer = path.posix.join(path.posix.dirname(file), 'user.ts');
    expect(
      find('small-file', { [file]: 'export const half = 1;\n', [importer]: `import './${name}.js';\n${LONG}` }),
    ).toEqual([]);
  });

  it('accepts a file that package.json exports, and one that is started by its path', () => {
    const files = { 'libs/x/src/half.ts': 'export const half = 1;\n', 'libs/x/src/user.ts': user };
    const exported = manifest('x', { './half': { '@slipway/source': './src/half.ts' } });
    expect(find('small-file', { ...files, 'libs/x/package.json': exported })).toEqual([]);
    const forked = "fork(new URL('./half.js', import.meta.url));\n";
    expect(find('small-file', { ...files, 'libs/x/src/starter.ts': forked + LONG })).toEqual([]);
    expect(find('small-file', { ...files, 'package.json': '"node libs/x/dist/half.js"' })).toEqual([]);
  });

  it('accepts code with a spec that is separate from its component', () => {
    const files = { 'apps/console/src/half.ts': 'export const half = 1;\n', 'apps/console/src/user.tsx': user };
    expect(find('small-file', files)).toHaveLength(1);
    expect(find('small-file', { ...files, 'apps/console/src/half.spec.ts': '' })).toEqual([]);
    const layout = {
      'apps/console/src/x-layout.ts': LONG.slice(0, 23),
      'apps/console/src/user.tsx': user.replace('half.js', 'x-layout.js'),
    };
    expect(find('small-file', layout)).toEqual([]);
  });

  it('accepts a reason, and reports one that is no longer needed', () => {
    const files = { 'libs/x/src/half.ts': 'export const half = 1;\n', 'libs/x/src/user.ts': user };
    expect(find('small-file', files, { 'libs/x/src/half.ts': 'a list' })).toEqual([]);
    expect(find('small-file', files, { 'libs/x/src/': 'one file for each' })).toEqual([]);
    expect(find('small-file', { 'libs/x/src/user.ts': LONG }, { 'libs/x/src/half.ts': 'a list' })).toEqual([
      'tools/lint/structure/small-file.mjs:1 the reason for `libs/x/src/half.ts` is no longer needed: delete it',
    ]);
  });
});

describe('full-folder', () => {
  const folder = (path: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${path}/file-${index}.ts`, 'export {};\n']));

  it('reports more than 25 product files in one folder', () => {
    expect(find('full-folder', folder('libs/x/src', 26))).toEqual([
      'libs/x/src:1 26 files; the limit is 25: move them into folders named after their subjects',
    ]);
    expect(find('full-folder', folder('libs/x/src', 26), { 'libs/x/src': 'one file for each engine' })).toEqual([]);
  });

  it('accepts subject folders, migrations and tests', () => {
    const files = { ...folder('libs/x/src', 25), ...folder('libs/x/src/devices', 25) };
    expect(find('full-folder', files)).toEqual([]);
    expect(find('full-folder', folder('libs/x/src/migrations', 30))).toEqual([]);
    expect(find('full-folder', folder('libs/x/test', 30))).toEqual([]);
  });
});

describe('unique-type-names', () => {
  it("reports a name that two files of the server's libs export", () => {
    const files = {
      'libs/a/src/a.ts': 'export interface Failure {}\n',
      'libs/b/src/b.ts': '\ntype Failure = string;\nexport type { Failure };\n',
    };
    expect(find('unique-type-names', files)).toEqual([
      'libs/a/src/a.ts:1 `Failure` is also exported by libs/b/src/b.ts: add the subject to the name',
      'libs/b/src/b.ts:2 `Failure` is also exported by libs/a/src/a.ts: add the subject to the name',
    ]);
    expect(find('unique-type-names', files, { Failure: 'a name of Kubernetes' })).toEqual([]);
  });

  it.each([
    ['a client and the server', 'apps/cli/src/a.ts', 'libs/b/src/b.ts'],
    ['two clients', 'apps/cli/src/a.ts', 'apps/console/src/b.tsx'],
    ['the SDK and the server', 'libs/sdk/src/a.ts', 'libs/b/src/b.ts'],
    ['generated code', 'libs/sdk/src/a.ts', 'libs/sdk/src/generated/b.ts'],
  ])('accepts a name of %s', (_, one, other) => {
    expect(find('unique-type-names', { [one]: 'export class Row {}\n', [other]: 'export class Row {}\n' })).toEqual([]);
  });

  it('accepts a re-export and a private type', () => {
    const files = {
      'libs/a/src/a.ts': 'export class Row {}\n',
      'libs/a/src/index.ts': "export { Row } from './a.js';\nexport type { Row as Line } from './a.js';\n",
      'libs/b/src/b.ts': 'interface Row {}\n',
    };
    expect(find('unique-type-names', files)).toEqual([]);
  });
});

describe('participle-types', () => {
  it.each(['Asked', 'Found', 'Told', 'Taken', 'Standing', 'Stale', 'Hopeless', 'Readable', 'Then'])(
    'reports `%s`',
    (name) => {
      expect(find('participle-types', { 'libs/x/src/a.ts': `\nexport interface ${name} {}\n` })).toEqual([
        `libs/x/src/a.ts:2 \`${name}\`: name the thing, as in \`RolloutRequest\``,
      ]);
      expect(find('participle-types', { 'libs/x/test/a.ts': `type ${name} = string;\n` })).toHaveLength(1);
    },
  );

  it.each(['Seed', 'Token', 'Binding', 'Variable', 'AskedQuestion', 'Rollout', 'Run'])('accepts `%s`', (name) => {
    expect(find('participle-types', { 'libs/x/src/a.ts': `export class ${name} {}\n` })).toEqual([]);
  });
});

describe('words', () => {
  const inFile = (text: string, reasons?: Record<string, string>) =>
    find('words', { 'libs/x/src/a.ts': `${text}\n` }, reasons);

  it.each([
    ['a type', 'interface WriteTurns {}'],
    ['a function', 'function hasRoom() {}'],
    ['a constant', 'const LOCK_LANES = 1;'],
    ['a parameter', 'const a = (place: string) => 1;'],
    ['a field', 'class A {\n  #room = 1;\n}'],
  ])('reports %s', (_, text) => {
    expect(inFile(text)).toHaveLength(1);
  });

  it('reports the name of a file', () => {
    expect(find('words', { 'libs/x/src/task-lanes.ts': 'export {};\n' })).toEqual([
      'libs/x/src/task-lanes.ts:1 `task-lanes`: `lane` has no meaning here; use connection, queue or priority',
    ]);
  });

  it.each([
    ['a longer word', 'const placement = replaceAll + workplace;'],
    ['a comment and a text', "// a place\nconst a = 'room';"],
    ['an ordinary phrase', 'function turnOff(inPlace: boolean) {}'],
    ['a name that is declared elsewhere', "import { room } from 'x';\nconst a = { room, place: b.turn };"],
  ])('accepts %s', (_, text) => {
    expect(inFile(text)).toEqual([]);
  });

  it('accepts stored and wire names', () => {
    expect(find('words', { 'libs/x/src/a.dto.ts': 'class A {\n  place: string;\n}\n' })).toEqual([]);
    expect(find('words', { 'libs/x/src/migrations/1-step-room.ts': 'class StepRoom1 {}\n' })).toEqual([]);
    expect(inFile('const place = 1;', { place: 'a column' })).toEqual([]);
    expect(inFile('const place = 1;', { 'libs/x/src/a.ts#place': 'a column' })).toEqual([]);
    expect(inFile('const place = 1;', { 'libs/x/src/b.ts#place': 'a column' })).toHaveLength(2);
  });
});

describe('design-codes', () => {
  it.each(['A8', 'B10', '10.8', '10.9c'])('reports `%s:` in a title', (code) => {
    const file = 'libs/x/src/a.spec.ts';
    expect(find('design-codes', { [file]: `\nit('${code}: stops', () => {});\n` })).toEqual([
      `${file}:2 delete \`${code}:\`; keep the sentence of the title`,
    ]);
    expect(find('design-codes', { [file]: `it.each([\n  1,\n])('${code}: stops', () => {});\n` })).toHaveLength(1);
  });

  it('reports a page of a design in a comment and in a page', () => {
    const text = '// The record of api.md 2.2, see the note on inference servers\n';
    expect(find('design-codes', { 'libs/x/src/a.ts': text })).toHaveLength(2);
    expect(find('design-codes', { 'docs/a.md': text })).toHaveLength(2);
  });

  it('accepts a sentence that can be read alone', () => {
    expect(find('design-codes', { 'libs/x/src/a.spec.ts': "it('S3 keeps 2.5 GB: no more', () => {});\n" })).toEqual([]);
    expect(find('design-codes', { 'docs/a.md': 'See [kubernetes.md](kubernetes.md).\n' })).toEqual([]);
  });
});
