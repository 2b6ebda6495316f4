/**
 * The files of the server that may open connections without the guard of @slipway/platform-egress, each with the reason
 * why no tenant decides where they lead.
 */
export const OUTBOUND = {
  'libs/platform/egress/src/guarded-dispatcher.ts': 'the guard itself',
  'libs/platform/egress/src/guarded-post.ts': 'over connections of the guard',
  'libs/platform/egress/src/outbound-proxy.ts': "the operator's proxy, for a connection that the guard has checked",
  'libs/platform/database/src/embedded/embedded-postgres.ts': 'a free port of this machine',
  'libs/platform/database/src/reach.ts': "the operator's Postgres",
  'libs/gateway/src/upstream/instance.ts': 'engines that a target of this host started; all others get a guarded one',
  'libs/targets/process/src/observation/engine-health.ts': 'engines that this target started, on loopback',
  'libs/targets/kubernetes/src/api/transport.ts': "the operator's cluster",
  'libs/targets/kubernetes/src/driver/kubernetes-driver.ts': 'pods that this target started',
  'libs/targets/driver/src/twin.ts': 'a target for tests',
  'libs/areas/console/src/gateway/gateway-proxy.ts': "the operator's gateway",
  'libs/areas/console/src/hosted/provider-client.ts': "the operator's identity provider",
  'libs/areas/identity/src/hosted/provider-keys.ts': "the operator's identity provider",
  'libs/areas/instances/src/access/started-instances.ts':
    'it resolves names to compare them with engines, and connects to none',
  'libs/areas/audit/src/s3-anchor.ts': "the operator's bucket",
  'libs/areas/sandboxes/src/storage/s3-store.ts': "the operator's bucket",
};

/** The harmless exports of modules that can connect. Everything else of them opens connections, or prepares them. */
export const HARMLESS = {
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
  'prom-client': null,
  'rxjs/ajax': [],
  'rxjs/webSocket': [],
  axios: [],
  got: [],
  ky: [],
  'node-fetch': [],
  superagent: [],
  ws: [],
};

/** Dependencies that connect on their own, and only to what the operator names. */
export const LIBRARIES = {
  '@nestjs/typeorm': "the operator's Postgres",
  bullmq: "the operator's Postgres or Redis",
  'embedded-postgres': 'the Postgres of this machine',
  ioredis: "the operator's Redis",
  pg: "the operator's Postgres",
  typeorm: "the operator's Postgres",
};

/** Dependencies that open no connection. */
export const NOT_CONNECTING = [
  ...['@aws-sdk/lib-storage', '@fastify/static', '@nestjs/common', '@nestjs/core', '@nestjs/platform-fastify'],
  ...['@nestjs/swagger', '@scarf/scarf', 'canonicalize', 'class-transformer', 'class-validator', 'cookie'],
  ...['fast-json-patch', 'fastify', 'ipaddr.js', 'lru-cache', 'p-limit', 'pino', 'reflect-metadata', 'rxjs', 'uuidv7'],
  'yaml',
];
