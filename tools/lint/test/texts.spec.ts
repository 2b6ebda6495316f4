import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { messagesOf, readWorkspace, textsOf, workspaceOf } from '../texts.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const fixture = (file: string) => read(`tools/lint/fixtures/bad-sentences/${file}`);
const style = read('docs/style.md');

const textsIn = (file: string, source: string) =>
  textsOf(workspaceOf({ [file]: source })).map(({ kind, line, text }) => [kind, line, text]);

describe('a text', () => {
  it('is a comment, also of several lines', () => {
    expect(textsIn('libs/x/src/a.ts', '// One of\n// two lines.\nexport const a = 1; /* And another. */\n')).toEqual([
      ['comment', 1, 'One of\ntwo lines.'],
      ['comment', 3, 'And another.'],
    ]);
  });

  it('is a string with words, with a gap for each value', () => {
    const source = 'throw new Error(`No revision ${name} of ${deployment}`);\nimport x from "two words";\n';
    expect(textsIn('libs/x/src/a.ts', source)).toEqual([['text', 1, 'No revision … of …']]);
  });

  it('is neither a statement of SQL nor a name', () => {
    const source = "const a = 'select id from deployments';\nconst b = 'x-request-id';\nconst c = 'chat';\n";
    expect(textsIn('libs/x/src/a.ts', source)).toEqual([]);
  });

  it('is the title of a test, and no other string of a spec', () => {
    const source =
      "it('keeps the route', () => expect(a).toBe('two words'));\nit.each([1])('moves it by %d', () => {});\n(here ? it : it.skip)('restores the route', () => {});\n";
    expect(textsIn('libs/x/src/a.spec.ts', source)).toEqual([
      ['title', 1, 'keeps the route'],
      ['title', 2, 'moves it by %d'],
      ['title', 3, 'restores the route'],
    ]);
  });

  it('is a text on a page of the console', () => {
    const source = 'export const A = () => <p className="flex gap-2" title="An empty list">No deployments yet</p>;\n';
    expect(textsIn('apps/console/src/a.tsx', source)).toEqual([
      ['text', 1, 'An empty list'],
      ['text', 1, 'No deployments yet'],
    ]);
  });

  it('is a comment of YAML and of a script', () => {
    expect(textsIn('docker/a.yaml', '# The port of the api.\nport: 1 # by default\n')).toEqual([
      ['comment', 1, 'The port of the api.'],
      ['comment', 2, 'by default'],
    ]);
  });
});

it('the workspace has no error in its texts, comments, titles and pages', async () => {
  const errors = (await messagesOf(readWorkspace(root))).filter(({ isError }) => isError);
  expect(errors.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([]);
});

it('refuses ten bad sentences, at the line where each of them begins', async () => {
  const messages = await messagesOf(
    workspaceOf({
      'docs/style.md': style,
      'libs/x/src/service.ts': fixture('service.ts.txt'),
      'libs/x/src/service.spec.ts': fixture('service.spec.ts.txt'),
      'docs/page.md': fixture('page.md'),
    }),
  );
  const positions = messages.filter(({ isError }) => isError).map(({ file, line }) => `${path.basename(file)}:${line}`);
  expect([...new Set(positions)]).toEqual([
    'service.ts:1',
    'service.ts:2',
    'service.ts:4',
    'service.ts:5',
    'service.ts:7',
    'service.ts:9',
    'service.spec.ts:1',
    'service.spec.ts:2',
    'page.md:3',
    'page.md:5',
    'page.md:7',
  ]);
});

it('accepts good sentences, names in code and questions', async () => {
  const good = "// The worker retries `whoever` after 5 s. What is a lease?\nexport const text = 'Create a rollout';\n";
  const messages = await messagesOf(workspaceOf({ 'docs/style.md': style, 'libs/x/src/a.ts': good }));
  expect(messages).toEqual([]);
});
