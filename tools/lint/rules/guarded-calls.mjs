import { inWorkspace, isTest, isUnder } from '../files.mjs';
import { HARMLESS, OUTBOUND } from '../outbound-calls.mjs';
import { definitionOf, isRequire, withoutTypes } from '../syntax.mjs';

/** Of modules that are harmless otherwise. */
const CONNECTING = { jose: ['createRemoteJWKSet'], 'prom-client': ['Pushgateway'] };
/** Modules of Node below its public ones. */
const INTERNAL = /^(?:node:)?_(?:http|tls|stream_wrap)/;
const GLOBALS = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']);

/**
 * A call to an address that a tenant can influence must pass the guard. It is easy to forget, and works without it, so
 * every other way to connect is listed with its reason.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unguarded:
        '`{{what}}` can connect to any address. Use `request` of undici with a `dispatcher` of @slipway/platform-egress. If no tenant decides about the address, list the file and its reason in tools/lint/outbound-calls.mjs.',
      dispatcher:
        'This request has no `dispatcher`, so nothing checks its address. Pass one of @slipway/platform-egress by name.',
      stale: 'This file no longer opens connections of its own. Delete its entry in tools/lint/outbound-calls.mjs.',
    },
  },
  create(context) {
    const isServer = isUnder(context, 'libs', 'apps/api', 'apps/gateway', 'apps/worker');
    if (!isServer || isTest(context) || isUnder(context, 'libs/sdk', 'libs/platform/testing')) return {};
    const reason = OUTBOUND[inWorkspace(context)];
    const { sourceCode } = context;
    let count = 0;

    function report(node, messageId, what) {
      count += 1;
      if (!reason) context.report({ node, messageId, data: { what } });
    }

    function checkImport(node) {
      const source = moduleOf(node.source?.value);
      if (source === undefined || node.importKind === 'type') return;
      for (const one of node.specifiers) {
        if (one.importKind === 'type') continue;
        // A default or a namespace import has everything.
        const name = one.imported?.name ?? one.imported?.value;
        if (source === 'undici' && name === 'request') checkRequests(one);
        if (connects(source, name)) report(one, 'unguarded', name ?? source);
      }
    }

    /** Under another name, a request could not be checked. */
    function checkRequests(specifier) {
      for (const { references } of sourceCode.getDeclaredVariables(specifier))
        for (const { identifier } of references) {
          const { parent } = identifier;
          const isCall = parent.type === 'CallExpression' && parent.callee === identifier;
          if (parent.type !== 'TSTypeQuery' && !(isCall && hasDispatcher(parent.arguments[1])))
            report(identifier, 'dispatcher');
        }
    }

    /** A file that imports from this one would connect unnoticed. */
    function checkExport(node) {
      const source = moduleOf(node.source?.value);
      if (source === undefined || node.exportKind === 'type') return;
      for (const one of node.specifiers ?? [{ ...node, local: undefined }]) {
        if (one.exportKind === 'type') continue;
        const name = one.local?.name ?? one.local?.value;
        const isRequest = source === 'undici' && name === 'request';
        if (isRequest || connects(source, name)) report(node, 'unguarded', name ?? source);
      }
    }

    return {
      ImportDeclaration: checkImport,
      ExportNamedDeclaration: checkExport,
      ExportAllDeclaration: checkExport,
      ImportExpression(node) {
        const source = moduleOf(node.source.value);
        if (source !== undefined && connects(source, undefined)) report(node, 'unguarded', source);
      },
      CallExpression(node) {
        if (!isRequire(node.callee)) return;
        const source = moduleOf(node.arguments[0]?.value);
        if (source !== undefined && connects(source, undefined)) report(node, 'unguarded', source);
      },
      /** Also without a call: the function could be passed on, or get another name. */
      MemberExpression(node) {
        const name = node.property.name ?? node.property.value;
        if (GLOBALS.has(name) && isGlobalObject(node.object)) report(node, 'unguarded', name);
      },
      VariableDeclarator({ id, init }) {
        if (id.type !== 'ObjectPattern' || !isGlobalObject(withoutTypes(init))) return;
        for (const one of id.properties) {
          const name = one.key?.name ?? one.key?.value;
          if (GLOBALS.has(name) || one.type === 'RestElement') report(one, 'unguarded', name ?? 'globalThis');
        }
      },
      Identifier(node) {
        if (GLOBALS.has(node.name) && isValue(sourceCode, node)) report(node, 'unguarded', node.name);
      },
      'Program:exit'(node) {
        if (reason && count === 0) context.report({ node, messageId: 'stale' });
      },
    };
  },
};

/** `http` and `node:http` are one module, and a part of a package is the package. Undefined: it cannot connect. */
function moduleOf(source) {
  if (typeof source !== 'string') return undefined;
  if (INTERNAL.test(source)) return 'node:net';
  const whole = source.split('/', source.startsWith('@') ? 2 : 1).join('/');
  return [source, `node:${source}`, whole].find((name) => Object.hasOwn(HARMLESS, name));
}

function connects(source, name) {
  if (Object.hasOwn(CONNECTING, source)) return name === undefined || CONNECTING[source].includes(name);
  return name === undefined || !HARMLESS[source].includes(name);
}

function isGlobalObject(node) {
  return node?.type === 'Identifier' && /^(globalThis|global|window|self)$/.test(node.name);
}

/** Whether a name is a reference to the value of the platform: no member, no type, no name of the file. */
function isValue(sourceCode, node) {
  const { parent } = node;
  if (parent.type === 'MemberExpression') {
    if (parent.property === node && !parent.computed) return false;
  } else if (parent.type === 'Property') {
    if (parent.key === node && parent.value !== node && !parent.computed) return false;
  } else if (parent.type === 'ExportSpecifier') {
    if (parent.local !== node || parent.parent.source) return false;
  } else if (!REFERRING.test(parent.type)) return false;
  return definitionOf(sourceCode, node, node.name) === undefined;
}

/** Nodes with a name that is neither a declaration nor a type. */
const REFERRING =
  /^(?:CallExpression|NewExpression|ChainExpression|VariableDeclarator|AssignmentExpression|AssignmentPattern|PropertyDefinition|ArrayExpression|ConditionalExpression|LogicalExpression|SequenceExpression|ReturnStatement|ArrowFunctionExpression|SpreadElement|AwaitExpression|TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|ExportDefaultDeclaration|TaggedTemplateExpression)$/;

function hasDispatcher(given) {
  const options = withoutTypes(given);
  return (
    options?.type === 'ObjectExpression' &&
    options.properties.some((one) => (one.key?.name ?? one.key?.value) === 'dispatcher')
  );
}
