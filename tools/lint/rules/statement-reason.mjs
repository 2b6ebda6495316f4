import { isTest, isUnder } from '../files.mjs';

const MAKERS = new Set(['prepared', 'lookup']);

/**
 * Plain reads and writes of an area go through repositories. A statement that is written by hand says above it what that buys: which
 * lock or conflict it is about, or which path is hot.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      silent:
        'Say in a comment above this statement what SQL by hand buys here. If nothing, use `tx.repository(Entity)`: find, insert, update, delete.',
    },
  },
  create(context) {
    if (isTest(context) || !isUnder(context, 'libs/areas')) return {};
    return {
      CallExpression(node) {
        if (node.callee.type !== 'Identifier' || !MAKERS.has(node.callee.name)) return;
        let top = node;
        while (top.parent && top.parent.type !== 'Program') top = top.parent;
        if (context.sourceCode.getCommentsBefore(top).length === 0) context.report({ node, messageId: 'silent' });
      },
    };
  },
};
