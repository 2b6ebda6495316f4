import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PRODUCT = /^(?:apps|libs)\/.+\.(?:ts|tsx|mjs)$/;
const NO_PRODUCT = /\.spec\.tsx?$|\.d\.m?ts$|\/test\/|\/testing\/|\/generated\/|\.config\.mjs$/;
/** The longest text of most expressions. Log lines have 16 KiB, headers 16 KiB, bodies of errors 64 KiB. */
export const DEFAULT_MAX = 64 * 1024;

/**
 * Expressions whose texts are shorter, and why. Their bounded repetitions may multiply, so that a longer text would take
 * too long.
 */
const SHORTER = [
  { file: 'libs/contracts/src/engine-error.ts', max: 2_000, why: '`errorOf` cuts every message to 2,000 characters' },
];

/**
 * Patterns that are put together at run time, with a result as it may be. `foreign` is where the parts come from.
 * A test compares this list with the code.
 */
export const DYNAMIC = [
  {
    file: 'apps/cli/src/remedies.ts',
    foreign: 'nothing: the templates are those of the command',
    source: '^GET /deployments/([^/]+)/rollouts/([^/]+)$',
  },
  {
    file: 'libs/contracts/src/engine-error.ts',
    foreign: 'nothing: a list of words in the same file',
    source: '(image|audio)[^.]{0,80}(not supported|unsupported)|(not support|without)[^.]{0,60}\\b(image|audio)',
  },
  {
    file: 'libs/contracts/src/http/retry-after.ts',
    foreign: 'a date in Retry-After of a receiver, supplier or sandbox',
    source:
      '^(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday), (\\d{2})-(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-(\\d{2}) (\\d{2}):(\\d{2}):(\\d{2}) GMT$',
  },
  {
    file: 'libs/contracts/src/text.ts',
    foreign: 'a name or a text of one line in a body',
    source:
      '^[^\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\n\\r\\u2028\\u2029]*[^\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$',
  },
  {
    file: 'libs/platform/config/src/schema-reader.ts',
    foreign: "nothing: the schemas of the operator's file",
    source: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  },
  {
    file: 'libs/platform/durable/src/queue/reach-redis.ts',
    foreign: 'nothing: names of fields that Redis reports',
    source: '^maxmemory_policy:(.*?)\\r?$',
    flags: 'm',
  },
  {
    file: 'libs/platform/http/src/fields/field.decorators.ts',
    foreign: 'nothing: the patterns of fields, which are literals and so tested as such',
    source: '^[a-z][a-z0-9_]*\\.([a-z][a-z0-9_]*|\\*)$',
  },
  {
    file: 'libs/platform/http/src/server/path-table.ts',
    foreign: 'nothing: the paths of routes',
    source: '^/api/v1/deployments/[^/]+/instances/[^/]+/files/.*$',
  },
];

/**
 * Every regular expression of the product, from the source.
 * @returns {{ name: string, file: string, source: string, flags: string, max: number }[]}
 */
export function productExpressions() {
  const literals = productFiles().flatMap((file) => literalsIn(file, readFileSync(path.join(ROOT, file), 'utf8')));
  const dynamic = DYNAMIC.map(({ file, source, flags = '' }) => ({ name: `${file} (built)`, file, source, flags }));
  return [...literals, ...dynamic].map((one) => ({ ...one, max: maxOf(one.file) }));
}

/** The files of the product that build expressions at run time. @returns {string[]} */
export function filesThatBuildExpressions() {
  return productFiles().filter((file) => /\bRegExp\(/.test(readFileSync(path.join(ROOT, file), 'utf8')));
}

function maxOf(file) {
  return SHORTER.find((one) => one.file === file)?.max ?? DEFAULT_MAX;
}

function productFiles() {
  const listed = execFileSync('git', ['ls-files', 'apps', 'libs'], { cwd: ROOT, maxBuffer: 2 ** 26 }).toString();
  return listed.split('\n').filter((file) => PRODUCT.test(file) && !NO_PRODUCT.test(file));
}

/**
 * The literals of a file, and the patterns of its JSON Schemas, which are texts.
 * @returns {{ name: string, file: string, source: string, flags: string }[]}
 */
export function literalsIn(file, text) {
  const kind = file.endsWith('.tsx') ? ts.ScriptKind.TSX : undefined;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, false, kind);
  const found = [];
  const visit = (node) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    const add = (body, flags) =>
      found.push({ name: `${file}:${line + 1} /${body}/${flags}`, file, source: body, flags });
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      add(node.text.slice(1, end), node.text.slice(end + 1));
    } else if (ts.isPropertyAssignment(node) && node.name.text === 'pattern' && ts.isStringLiteral(node.initializer))
      add(node.initializer.text, 'u');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
