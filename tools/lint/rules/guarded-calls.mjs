import { inWorkspace, isTest, isUnder } from '../files.mjs';
import { OUTBOUND } from '../outbound-calls.mjs';
import { definitionOf, withoutTypes } from '../syntax.mjs';

/** The harmless exports of modules that can connect. Everything else of them opens connections, or prepares them. */
const HARMLESS = {
  undici: ['request', 'errors'],
  'node:http': [
    'createServer',
    'STATUS_CODES',
    'METHODS',
    'validateHeaderName',
    'validateHeaderValue',
    'maxHeaderSize',
  ],
  'node:https': ['createServer'],
  'node:http2': ['createServer', 'createSecureServer', 'constants'],
  'node:net': ['createServer', 'BlockList', 'isIP', 'isIPv4', 'isIPv6'],
  'node:tls': ['createServer', 'rootCertificates'],
  'node:dns': [],
  'node:dns/promises': [],
  'node:dgram': [],
  '@aws-sdk/client-s3': [],
  'openid-client': [],
  jose: null,
  axios: [],
  got: [],
  ky: [],
  'node-fetch': [],
  superagent: [],
  ws: [],
};
/** Of modules that are harmless otherwise. */
const CONNECTING = { jose: ['createRemoteJWKSet'] };
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
    const requests = new Set();
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
        if (source === 'undici' && name === 'request') requests.add(one.local.name);
        if (connects(source, name)) report(one, 'unguarded', name ?? source);
      }
    }

    return {
      ImportDeclaration: checkImport,
      ImportExpression(node) {
        const source = moduleOf(node.source.value);
        if (source !== undefined && connects(source, undefined)) report(node, 'unguarded', source);
      },
      'CallExpression, NewExpression'(node) {
        const { callee } = node;
        const name = calledName(callee);
        if (GLOBALS.has(name) && isGlobal(sourceCode, callee)) report(callee, 'unguarded', name);
        if (callee.type === 'Identifier' && requests.has(callee.name) && !hasDispatcher(node.arguments[1]))
          report(callee, 'dispatcher');
      },
      'Program:exit'(node) {
        if (reason && count === 0) context.report({ node, messageId: 'stale' });
      },
    };
  },
};

/** `http` and `node:http` are one module. Undefined for modules that cannot connect. */
function moduleOf(source) {
  if (typeof source !== 'string') return undefined;
  return [source, `node:${source}`].find((name) => Object.hasOwn(HARMLESS, name));
}

function connects(source, name) {
  if (Object.hasOwn(CONNECTING, source)) return name === undefined || CONNECTING[source].includes(name);
  return name === undefined || !HARMLESS[source].includes(name);
}

/** The name of a function that is called as itself or as a member of the global object. */
function calledName(callee) {
  if (callee.type === 'Identifier') return callee.name;
  const isMember = callee.type === 'MemberExpression' && /^(globalThis|global|window|self)$/.test(callee.object.name);
  return isMember ? (callee.property.name ?? callee.property.value) : undefined;
}

function isGlobal(sourceCode, callee) {
  return callee.type !== 'Identifier' || definitionOf(sourceCode, callee, callee.name) === undefined;
}

function hasDispatcher(given) {
  const options = withoutTypes(given);
  return (
    options?.type === 'ObjectExpression' &&
    options.properties.some((one) => (one.key?.name ?? one.key?.value) === 'dispatcher')
  );
}
