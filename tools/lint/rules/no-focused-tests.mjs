const SUITES = new Set(['it', 'test', 'describe']);
const SHORT = new Set(['fit', 'fdescribe']);

/** One focused test skips every other test of its file, and the run stays green. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      only: 'Remove `.only`: it skips every other test of this file. To run one test, pass `-t "<name>"` to Jest.',
    },
  },
  create(context) {
    return {
      MemberExpression(node) {
        if (node.property.name === 'only' && SUITES.has(node.object.name)) context.report({ node, messageId: 'only' });
      },
      CallExpression(node) {
        if (SHORT.has(node.callee.name)) context.report({ node, messageId: 'only' });
      },
    };
  },
};
