import path from 'node:path';

/** The role of a file in the architecture. Tools and readers rely on these suffixes. */
const ROLES = ['controller', 'service', 'operation', 'query', 'entity', 'dto', 'errors', 'events', 'module', 'port'];

/** Other suffixes: nouns that name the content of the file. A change that adds one needs a separate review. */
const PARTS = [
  'commits',
  'config',
  'conformance',
  'decorator',
  'decorators',
  'definition',
  'definitions',
  'file',
  'failures',
  'follower',
  'hub',
  'input',
  'link',
  'listener',
  'plan',
  'preset',
  'relay',
  'row',
  'runner',
  'store',
  'worker',
];

const TESTS = ['spec', 'int.spec', 'e2e.spec'];
const FORBIDDEN = ['util', 'utils', 'helper', 'helpers', 'common', 'shared', 'base', 'manager'];
const STEM = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      empty:
        '`{{word}}` does not name what the file holds. Name the file after its subject, as in `rollout.operation.ts` or `tenant-names.ts`.',
      stem: 'File names are kebab-case: `{{stem}}` is not.',
      suffix: `\`.{{suffix}}\` is not a known suffix. Use one of .${ROLES.join(' .')}, a noun in kebab-case (\`price-list.ts\`), or add the suffix to tools/lint/rules/file-names.mjs in a change of its own.`,
    },
  },
  create(context) {
    return {
      Program(node) {
        const complain = (messageId, data) => context.report({ node, loc: { line: 1, column: 0 }, messageId, data });
        const name = path
          .basename(context.filename)
          .replace(/\.[cm]?[jt]sx?$/, '')
          .replace(/^\./, '')
          .replace(/\.d$/, '');
        const [stem, ...suffixes] = withoutTestSuffix(name).split('.');
        const folders = path.relative(context.cwd, path.dirname(context.filename)).split(path.sep);
        const word = [...folders, ...stem.split('-'), ...suffixes].find((part) => FORBIDDEN.includes(part));
        if (word) complain('empty', { word });
        if (!STEM.test(stem)) complain('stem', { stem });
        const suffix = suffixes.join('.');
        if (suffix && ![...ROLES, ...PARTS].includes(suffix)) complain('suffix', { suffix });
      },
    };
  },
};

function withoutTestSuffix(name) {
  // The longest first: `int.spec` ends in `spec`.
  const suffix = [...TESTS].reverse().find((test) => name.endsWith(`.${test}`));
  return suffix ? name.slice(0, -suffix.length - 1) : name;
}
