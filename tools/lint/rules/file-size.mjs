import { isTest } from '../files.mjs';

const MOST_LINES = 500;

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      long: '{{lines}} lines; the limit is {{most}}. Split by meaning: move long queries to a `.query.ts`, rules to pure functions in a file of their own, and a second subject to its own file.',
    },
  },
  create(context) {
    if (isTest(context)) return {};
    return {
      Program(node) {
        const lines = context.sourceCode.lines.length;
        if (lines > MOST_LINES + 1)
          context.report({
            node,
            loc: { line: MOST_LINES + 1, column: 0 },
            messageId: 'long',
            data: { lines, most: MOST_LINES },
          });
      },
    };
  },
};
