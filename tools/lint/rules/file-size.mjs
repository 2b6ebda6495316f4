import { isTest } from '../files.mjs';

const MOST_LINES = 500;

export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      long: '{{lines}} lines; the limit is {{most}}. Split by meaning: a query of over ten lines into a `.query.ts`, a decision into a pure function of its own file, a second feature under its own stem.',
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
