import path from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import text from '@textlint/textlint-plugin-text';
import terminology from 'textlint-rule-terminology';
import { readWorkspace, workspaceOf } from './structure/workspace.mjs';
import { dictionaryIn } from './texts/dictionary.mjs';
import { textsIn } from './texts/extract.mjs';
import { clauseSubject, sentenceLength } from './texts/rules.mjs';

// Checks the texts that people read against the word lists of docs/style.md: texts for users, comments, titles of tests
// and pages.
const HELP = `node tools/lint/texts.mjs [path…] [--warnings] [--list] [--root DIR]
  (nothing)    every error in the texts and pages of the workspace; exits 1 if there are any
  path…        only files whose path contains one of these
  --warnings   also the words to check
  --list       the texts themselves, one JSON object on a line
  --root DIR   another checkout
`;

export { readWorkspace, workspaceOf };

const IGNORED =
  /\/generated\/|\.d\.m?ts$|^tools\/generators\/.+\/files\/|^tools\/lint\/fixtures\/|\/migrations\/|^LICENSE|^docs\/style\.md$/;

/** The texts of the workspace's source files; released migrations do not change. */
export function textsOf(workspace, only = () => true) {
  return workspace.files
    .filter((file) => !IGNORED.test(file) && !file.endsWith('.md') && only(file) && workspace.has(file))
    .flatMap((file) => textsIn(file, workspace.text(file)));
}

const kernel = new TextlintKernel();
const plugins = [
  { pluginId: 'text', plugin: text.default ?? text },
  { pluginId: 'markdown', plugin: markdown.default ?? markdown },
];

/** Messages of textlint for texts of one file or for a page: `{ file, line, kind, isError, message }`. */
class TextLint {
  constructor(stylePage) {
    const { phrases, words } = dictionaryIn(stylePage);
    const terms = (list) => ({ defaultTerms: false, skip: ['BlockQuote'], terms: ['TypeScript', ...list] });
    this.rules = [
      { ruleId: 'phrases', rule: terminology, options: terms(phrases) },
      { ruleId: 'words', rule: terminology, options: { ...terms(words), severity: 'warning' } },
      { ruleId: 'clause-subject', rule: clauseSubject },
    ];
  }

  /** Each text becomes a paragraph of one line, so that a phrase may wrap; code counts as one word. */
  async texts(file, texts) {
    const lines = texts.map((one) =>
      one.text
        .replace(/`[^`]*`/g, 'code')
        .replace(/\s+/g, ' ')
        .trim(),
    );
    const messages = await this.#messages(lines.join('\n\n'), '.txt', this.rules);
    return messages.map(({ line, ...rest }) => {
      const { kind, line: start } = texts[(line - 1) / 2];
      return { file, kind, ...rest, line: start };
    });
  }

  async page(file, source) {
    const rules = [...this.rules, { ruleId: 'sentence-length', rule: sentenceLength }];
    return (await this.#messages(source, '.md', rules)).map((message) => ({ file, kind: 'page', ...message }));
  }

  async #messages(source, ext, rules) {
    const { messages } = await kernel.lintText(source, { ext, plugins, rules, filePath: `text${ext}` });
    return messages.map(({ loc, severity, ruleId, message }) => ({
      line: loc.start.line,
      isError: severity === 2,
      message: `${ruleId}: ${message}`,
    }));
  }
}

/** Every message about a workspace. */
export async function messagesOf(workspace, only = () => true) {
  const lint = new TextLint(workspace.text('docs/style.md'));
  const found = [];
  for (const file of workspace.files) {
    if (IGNORED.test(file) || !only(file) || !workspace.has(file)) continue;
    const source = workspace.text(file);
    found.push(...(await (file.endsWith('.md') ? lint.page(file, source) : lint.texts(file, textsIn(file, source)))));
  }
  return found;
}

async function main(args) {
  const print = (line) => process.stdout.write(`${line}\n`);
  if (args.includes('--help')) return process.stdout.write(HELP);
  const root = path.resolve(
    args.includes('--root') ? args[args.indexOf('--root') + 1] : path.resolve(import.meta.dirname, '../..'),
  );
  const paths = args.filter((arg, index) => !arg.startsWith('--') && args[index - 1] !== '--root');
  const only = (file) => paths.length === 0 || paths.some((part) => file.includes(part));
  const workspace = readWorkspace(root);
  if (args.includes('--list')) {
    for (const one of textsOf(workspace, only)) print(JSON.stringify(one));
    return undefined;
  }
  const messages = await messagesOf(workspace, only);
  const shown = messages.filter(({ isError }) => isError || args.includes('--warnings'));
  for (const { file, line, kind, isError, message } of shown)
    print(`${file}:${line} ${kind} ${isError ? 'error' : 'warning'} ${message}`);
  const errors = messages.filter(({ isError }) => isError).length;
  print(`texts: ${errors} errors, ${messages.length - errors} warnings`);
  if (errors > 0) process.exitCode = 1;
  return undefined;
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
