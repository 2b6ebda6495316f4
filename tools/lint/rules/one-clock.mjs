import { inWorkspace, isTest, isUnder } from '../files.mjs';

const NOW = /\bDate\.now\(\)/;
const STORED = /\.getTime\(\)/;
/** Measures how far Postgres is from the wall clock of the start. */
const CLOCK = 'libs/gateway/src/postgres/database-clock.ts';
/** Times in answers: only clients read them. */
const ANSWERS = 'libs/gateway/src/answers';

/**
 * Times in rows come from the clock of Postgres. This process's clock may differ by minutes, and then a soak ends early.
 * A gateway's wall clock may be set while it runs, and then it would place statistics elsewhere or end ejections.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      clock:
        'The clock of this process may differ from the clock of Postgres by minutes. Compute ages and expiries in SQL (`now() + make_interval(...)`), or call `step.elapsedMs()`.',
      gateway:
        'The wall clock of a gateway may be wrong and may be set. Use `performance.now()` for durations, and `DatabaseClock` for times that Postgres has or gets.',
    },
  },
  create(context) {
    if (isTest(context)) return {};
    if (isUnder(context, 'libs/gateway/src') && !isUnder(context, ANSWERS) && inWorkspace(context) !== CLOCK)
      return {
        "CallExpression[callee.object.name='Date'][callee.property.name='now']"(node) {
          context.report({ node, messageId: 'gateway' });
        },
      };
    if (!isUnder(context, 'libs/areas', 'libs/platform')) return {};
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
