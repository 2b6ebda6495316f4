import { isTest, isUnder } from '../files.mjs';

const HEAVY = [
  /^(@nestjs\/|typeorm$|reflect-metadata$)/,
  /^@slipway\/platform-(config|database|http|observability)$/,
  /^(@slipway\/dataplane|\.\.?)\/entities(\/|$)/,
];

const FREE = ['libs/contracts', 'libs/dataplane', 'libs/gateway', 'libs/platform/egress', 'apps/gateway'];
/** A subpath for the processes that use TypeORM. None of the folders above imports it. */
const ENTITIES = 'libs/dataplane/src/entities';

/**
 * The gateway starts in a fraction of a second, and loads nothing that its hot path does not need. Every process, and
 * the console in the browser, reads `contracts`.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      heavy:
        '`{{source}}` loads Nest or TypeORM into a process that runs without them. Import a subpath without them (`@slipway/platform-database/secret-box`), or pass the value in from the main file.',
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
