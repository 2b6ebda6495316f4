import { isTest, isUnder } from '../files.mjs';

const NOW = /\bDate\.now\(\)/;
const STORED = /\.getTime\(\)/;

/** Times in rows come from the clock of Postgres. This process's clock may differ by minutes, and then a soak ends early. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      clock:
        'The clock of this process may differ from the clock of Postgres by minutes. Compute ages and expiries in SQL (`now() + make_interval(...)`), or call `step.elapsedMs()`.',
    },
  },
  create(context) {
    if (isTest(context) || !isUnder(context, 'libs/areas', 'libs/platform')) return {};
    const textOf = (node) => context.sourceCode.getText(node);
    return {
      BinaryExpression(node) {
        const isInner = node.parent.type === 'BinaryExpression' && STORED.test(textOf(node.parent));
        if (!isInner && NOW.test(textOf(node)) && STORED.test(textOf(node)))
          context.report({ node, messageId: 'clock' });
      },
      "NewExpression[callee.name='Date']"(node) {
        if (NOW.test(textOf(node))) context.report({ node, messageId: 'clock' });
      },
    };
  },
};
