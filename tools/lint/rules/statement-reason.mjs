import { isTest, isUnder } from '../files.mjs';

const MAKERS = new Set(['prepared', 'lookup']);

/**
 * Plain reads and writes of an area use repositories. A comment above a handwritten statement gives the reason: a lock,
 * a conflict or a hot path.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      silent:
        'Explain in a comment above this statement why it needs SQL by hand: a lock, a conflict or a hot path. Otherwise use `tx.repository(Entity)`: find, insert, update, delete.',
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
