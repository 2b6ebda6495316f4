import { inWorkspace, isTest, isUnder } from '../files.mjs';
import { definitionOf, isRequire, withoutTypes } from '../syntax.mjs';

const MODULE = /^(node:)?(child_process|cluster)$/;
const STARTS = new Set(['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']);

/**
 * A child process without `env` inherits every key and login of its parent. A program that runs as another user then
 * shows them to that user.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      named:
        'Import the function by its name, so that this rule sees its calls, and pass `env`. `systemEnvironment` of @slipway/platform-config has what a program of the system needs.',
      env: 'Pass `env`: without it the child inherits all secrets of this process. `systemEnvironment` of @slipway/platform-config has what a program of the system needs.',
    },
  },
  create(context) {
    // Other tools run on the machines of developers, without secrets of an installation.
    if (isTest(context) || isUnder(context, 'libs/platform/testing', 'libs/sdk')) return {};
    if (!inWorkspace(context).includes('/src/')) return {};
    if (!isUnder(context, 'libs', 'apps/api', 'apps/worker', 'apps/gateway', 'apps/cli', 'tools/quickstart')) return {};
    const starters = new Set();
    const reportUnnamed = (node, source) => {
      if (MODULE.test(source?.value)) context.report({ node, messageId: 'named' });
    };
    return {
      ImportSpecifier(node) {
        if (!MODULE.test(node.parent.source.value)) return;
        if (STARTS.has(node.imported.name)) starters.add(node.local.name);
      },
      'ImportNamespaceSpecifier, ImportDefaultSpecifier': (node) => reportUnnamed(node, node.parent.source),
      ImportExpression: (node) => reportUnnamed(node, node.source),
      'ExportNamedDeclaration, ExportAllDeclaration': (node) => reportUnnamed(node, node.source),
      'VariableDeclarator[init.callee.name="promisify"]'(node) {
        if (starters.has(node.init.arguments[0]?.name) && node.id.type === 'Identifier') starters.add(node.id.name);
      },
      CallExpression(node) {
        if (isRequire(node.callee)) return reportUnnamed(node, node.arguments[0]);
        const name = starterOf(node.callee, starters);
        if (name !== undefined && !node.arguments.some((one) => hasEnvironment(context, one)))
          context.report({ node, messageId: 'env' });
      },
    };
  },
};

/** `spawn(…)`, or `promisify(execFile)(…)`. */
function starterOf(callee, starters) {
  if (callee.type === 'Identifier' && starters.has(callee.name)) return callee.name;
  if (callee.type !== 'CallExpression' || callee.callee.name !== 'promisify') return undefined;
  const [inner] = callee.arguments;
  return inner?.type === 'Identifier' && starters.has(inner.name) ? inner.name : undefined;
}

/** An object with `env`, also as a constant of this file. */
function hasEnvironment(context, argument) {
  const value = withoutTypes(argument);
  if (value.type === 'ObjectExpression') return value.properties.some((one) => isEnvironment(context, one));
  if (value.type !== 'Identifier') return false;
  const definition = definitionOf(context.sourceCode, argument, value.name);
  return definition?.type === 'VariableDeclarator' && definition.init
    ? hasEnvironment(context, definition.init)
    : false;
}

function isEnvironment(context, property) {
  if (property.type === 'SpreadElement') return hasEnvironment(context, property.argument);
  // `undefined` is the environment of the parent.
  return (property.key.name ?? property.key.value) === 'env' && property.value.name !== 'undefined';
}
