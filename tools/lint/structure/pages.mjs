import path from 'node:path';
import { matches } from './workspace.mjs';

/**
 * Pages whose command blocks run in a test, and that test, which names the page. Each other block says why no test runs
 * it.
 */
const RUN_BY = {
  ...Object.fromEntries(
    [
      'README.md',
      'docs/api.md',
      ...['install', 'first-model-server', 'first-canary', 'first-rollback'].map(
        (name) => `docs/get-started/${name}.md`,
      ),
      ...['canaries', 'scaling', 'adoption', 'model-apis', 'sandboxes', 'webhooks'].map(
        (name) => `docs/guides/${name}.md`,
      ),
    ].map((page) => [page, 'tools/quickstart/test/pages.e2e.spec.ts']),
  ),
  'docs/cli.md': 'apps/api/test/clients/cli.e2e.spec.ts',
  'docs/guides/kubernetes.md': 'tools/chart/test/guide.int.spec.ts',
  'CONTRIBUTING.md': 'tools/generators/test/contributing.int.spec.ts',
};

const BLOCK = /^ *(`{3,})([^`\n]*)\n([\s\S]*?)^ *\1$/gm;
const COMMANDS = /^(?:sh|bash|shell|console|zsh|fish)\b/;
const LINK = /(?<!!)\[[^[\]]*\]\(([^)\s]+)\)|!\[[^[\]]*\]\(([^)\s]+)\)/g;
/** A path of this repository in a sentence: it begins with a folder of the root and has no placeholder. */
const NAMED = /`((?:apps|libs|tools|docs|deploy|docker|\.ci|\.github)\/[\w@./-]+)`/g;
/** Build outputs, and the areas and targets that CONTRIBUTING generates as examples. */
const ABSENT = /\/dist\/|\/dist$|node_modules|\/(?:alerts|slurm)(?:\/|$)/;

/**
 * Every relative link, heading and named path of a page exists, and every block of commands runs in a test or says why
 * not.
 */
export default {
  name: 'pages',
  says: 'a link, a heading or a path of a page that does not exist, or a block of commands that no test runs',
  find(workspace) {
    const folders = new Set(workspace.files.flatMap(foldersAbove));
    const exists = (file) => workspace.has(file) || folders.has(file.replace(/\/$/, ''));
    const pages = workspace.files.filter(
      (file) => file.endsWith('.md') && !/\/files\/|^tools\/lint\/fixtures\//.test(file) && workspace.has(file),
    );
    const stale = Object.entries(RUN_BY)
      .filter(([page, spec]) => workspace.has(page) && !workspace.text(spec)?.includes(path.basename(page, '.md')))
      .map(([page, spec]) => ({ file: page, line: 1, text: `${spec} does not name this page` }));
    return [...stale, ...pages.flatMap((file) => findInPage(workspace, file, exists))];
  },
};

function findInPage(workspace, file, exists) {
  const source = workspace.text(file);
  const prose = source.replace(BLOCK, (block) => block.replace(/[^\n]/g, ''));
  const links = matches(prose, LINK).map(({ match, line }) => ({ target: match[1] ?? match[2], line }));
  const broken = links
    .filter(({ target }) => !/^(?:[a-z]+:|\/)/.test(target))
    .filter(({ target }) => !leadsSomewhere(workspace, file, target, exists))
    .map(({ target, line }) => ({ file, line, text: `\`${target}\` does not exist` }));
  const named = matches(prose, NAMED)
    .filter(({ match }) => !ABSENT.test(match[1]) && !exists(match[1].replace(/:\d+$/, '')))
    .map(({ match, line }) => ({ file, line, text: `\`${match[1]}\` does not exist` }));
  const unrun = RUN_BY[file]
    ? []
    : matches(source, BLOCK)
        .filter(({ match }) => COMMANDS.test(match[2]) && !/no-run: \S/.test(match[2]))
        .map(({ line }) => ({
          file,
          line,
          text: 'no test runs this block: add the page to a test, or `no-run: <reason>` after the language',
        }));
  return [...broken, ...named, ...unrun];
}

function leadsSomewhere(workspace, file, target, exists) {
  const [to, anchor] = decodeURI(target).split('#');
  const page = to ? path.posix.normalize(path.posix.join(path.posix.dirname(file), to)) : file;
  if (page.startsWith('..') || !exists(page)) return false;
  if (!anchor || !page.endsWith('.md')) return true;
  return headingsOf(workspace.text(page)).includes(anchor);
}

/** Anchors of headings as GitHub creates them. */
function headingsOf(source) {
  const seen = new Map();
  return [...source.replace(BLOCK, '').matchAll(/^#{1,6} +(\S.*)$/gm)].map(([, title]) => {
    const plain = title
      .trim()
      .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
      .toLowerCase();
    const name = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}

const foldersAbove = (file) => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};
