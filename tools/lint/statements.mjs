import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const VERB = /^\s*(?:select\s|insert into\s|update \w+(?: \w+)? set\s|delete from\s|with (?:recursive )?\w+ as\b)/i;
const MAKERS = new Set(['prepared', 'lookup']);

/**
 * The handwritten SQL statements in the product's code below a folder: `prepared(…)`, `lookup(…)`, and any other text
 * that begins like a statement. Fragments of other statements are not counted, and neither are helpers that a library
 * exports for tests.
 * @returns {{file: string, line: number, name: string}[]}
 */
export function statementsUnder(root, folder) {
  return sourcesUnder(root, folder).flatMap((file) => statementsIn(file, readFileSync(path.join(root, file), 'utf8')));
}

/** @returns {{file: string, line: number, name: string}[]} */
export function statementsIn(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const note = (node, name) => {
    found.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, name });
  };
  const visit = (node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && MAKERS.has(node.expression.text)) {
      note(node, node.arguments[0]?.getText() ?? '');
      return;
    }
    if (isText(node)) {
      if (VERB.test(headOf(node))) note(node, headOf(node).trim().slice(0, 40));
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isText = (node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
const headOf = (node) => (ts.isTemplateExpression(node) ? node.head.text : node.text);

function sourcesUnder(root, folder) {
  return readdirSync(path.join(root, folder), { recursive: true })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter(
      (file) =>
        /^[^.]+\/src\/[^.]+(\.[a-z-]+)?\.ts$/.test(file) &&
        !/\.spec\.ts$|\/migrations\/|\/src\/testing\/|\/(dist|node_modules)\//.test(file),
    )
    .sort();
}

if (process.argv[1] === import.meta.filename) {
  const root = process.argv[2] ?? path.resolve(import.meta.dirname, '../..');
  const statements = statementsUnder(root, 'libs/areas');
  const areas = [...new Set(statements.map(({ file }) => file.split('/')[2]))];
  const print = (count, what) => process.stdout.write(`${String(count).padStart(4)} ${what}\n`);
  for (const area of areas) print(statements.filter(({ file }) => file.split('/')[2] === area).length, area);
  print(statements.length, 'statements by hand in libs/areas');
}
