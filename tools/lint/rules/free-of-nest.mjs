import { isTest, isUnder } from '../files.mjs';

const HEAVY = [
  /^(@nestjs\/|typeorm$|reflect-metadata$)/,
  /^@slipway\/platform-(config|database|http|observability)$/,
  /^(@slipway\/dataplane|\.\.?)\/entities(\/|$)/,
];

const FREE = ['libs/contracts', 'libs/dataplane', 'libs/gateway', 'libs/platform/egress', 'apps/gateway'];
/** For the processes that use TypeORM: a subpath of its own, which none of those above imports. */
const ENTITIES = 'libs/dataplane/src/entities';

/**
 * The gateway starts in a fraction of a second and has nothing on its hot path that it does not need; the vocabulary is read by
 * everyone, one day by a console in the browser.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      heavy:
        '`{{source}}` brings Nest or TypeORM into a process that runs without them. Import a subpath that does not (`@slipway/platform-database/secret-box`), or hand the value in from the main file.',
    },
  },
  create(context) {
    if (isTest(context) || !isUnder(context, ...FREE) || isUnder(context, ENTITIES)) return {};
    const check = (node) => {
      const source = node.source?.value;
      if (typeof source !== 'string' || !HEAVY.some((one) => one.test(source))) return;
      if (node.importKind === 'type') return;
      context.report({ node, messageId: 'heavy', data: { source } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};
