import { inWorkspace, isTest, isUnder } from '../files.mjs';
import { PLAIN } from '../plain-requests.mjs';

const REQUEST = /^(fetch|request|requestText|send|inject|get|post|put|patch|delete)$/i;
const API = /\/api\/v1\b/;
/** Routes that belong to no client. */
const BESIDE = /^\/(openapi\.json|healthz|readyz|metrics|docs\b.*)?$/;

/** A second client has faults of its own, and hides those of the first: what nobody else can see, its users do. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      plain:
        'A plain request to the api: use @slipway/sdk (`stack.slipway()`, `api.slipway()`; `answerTo` for statuses and headers). Contract, fuzz and fault tests are listed with their reasons in tools/lint/plain-requests.mjs.',
      stale: 'It sends no plain request any more: take it off the list in tools/lint/plain-requests.mjs.',
    },
  },
  create(context) {
    const name = inWorkspace(context);
    // Libraries stand below the client.
    if (!isUnder(context, 'apps', 'tools')) return {};
    const { sourceCode } = context;
    const reason = PLAIN[name];
    let count = 0;

    function namesApi(node) {
      if (API.test(sourceCode.getText(node))) return true;
      return identifiersOf(node).some(({ name: given }) => {
        for (let scope = sourceCode.getScope(node); scope; scope = scope.upper) {
          const init = scope.set.get(given)?.defs[0]?.node.init;
          if (init && /^(TemplateLiteral|Literal)$/.test(init.type)) return API.test(sourceCode.getText(init));
        }
        return false;
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

/** The plain client of contract tests (`api.send`), for any path but those beside the api. */
function isToAnywhere(callee, [, target]) {
  if (callee.type !== 'MemberExpression' || callee.property.name !== 'send' || target === undefined) return false;
  // Something else that sends: a path is no object.
  if (target.type === 'ObjectExpression') return false;
  return !(target.type === 'Literal' && BESIDE.test(String(target.value)));
}

function identifiersOf(node) {
  if (node.type === 'Identifier') return [node];
  return node.type === 'TemplateLiteral' ? node.expressions.filter(({ type }) => type === 'Identifier') : [];
}
