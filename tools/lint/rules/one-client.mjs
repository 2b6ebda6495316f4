import { inWorkspace, isTest, isUnder } from '../files.mjs';
import { PLAIN } from '../plain-requests.mjs';
import { definitionOf, withoutTypes } from '../syntax.mjs';

const REQUEST = /^(fetch|request|requestText|send|inject|get|post|put|patch|delete)$/i;
const API = /\/api\/v1\b/;
/** Routes that are not part of the API that the client covers. */
const OUTSIDE = /^\/(openapi\.json|healthz|readyz|metrics|docs\b.*)?$/;

/** A second client has its own faults, and hides the faults of the one that users have. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      plain:
        'This is a plain request to the API. Use @slipway/sdk instead: `stack.slipway()` or `api.slipway()`, and `answerTo` for statuses and headers. Contract, fuzz and fault tests may send plain requests: list the file and its reason in tools/lint/plain-requests.mjs.',
      stale: 'This file no longer sends a plain request. Delete its entry in tools/lint/plain-requests.mjs.',
    },
  },
  create(context) {
    const name = inWorkspace(context);
    // Libraries cannot import the client.
    if (!isUnder(context, 'apps', 'tools')) return {};
    const { sourceCode } = context;
    const reason = PLAIN[name];
    let count = 0;

    function namesApi(node) {
      if (API.test(sourceCode.getText(node))) return true;
      return identifiersOf(node).some(({ name: given }) => {
        const init = withoutTypes(definitionOf(sourceCode, node, given)?.init);
        return /^(TemplateLiteral|Literal)$/.test(init?.type) && API.test(sourceCode.getText(init));
      });
    }

    return {
      'CallExpression, NewExpression'({ callee, arguments: given }) {
        const called = callee.property?.name ?? callee.name ?? '';
        if (!REQUEST.test(called)) return;
        const isPlain = given.slice(0, 2).some(namesApi) || (isTest(context) && isToAnywhere(callee, given));
        if (!isPlain) return;
        count += 1;
        if (!reason) context.report({ node: callee, messageId: 'plain' });
      },
      'Program:exit'(node) {
        if (reason && count === 0) context.report({ node, messageId: 'stale' });
      },
    };
  },
};

/** The plain client of contract tests (`api.send`), for any path of the API. */
function isToAnywhere(callee, [, target]) {
  if (callee.type !== 'MemberExpression' || callee.property.name !== 'send' || target === undefined) return false;
  // Another function named `send`: a path is not an object.
  if (target.type === 'ObjectExpression') return false;
  return !(target.type === 'Literal' && OUTSIDE.test(String(target.value)));
}

function identifiersOf(node) {
  if (node.type === 'Identifier') return [node];
  return node.type === 'TemplateLiteral' ? node.expressions.filter(({ type }) => type === 'Identifier') : [];
}
