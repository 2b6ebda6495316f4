import { wordsOf } from './terminal.js';

/** Maps requests in the api's texts to the equivalent commands. Placeholders have the same order. */
const LINES: readonly (readonly [request: string, line: string])[] = [
  ['GET /admin/model-api/products', 'slipway products list'],
  ['POST /admin/model-api/products', 'slipway products create <slug>'],
  ['GET /admin/model-api/products/{id}', 'slipway products get <product>'],
  ['PATCH /admin/model-api/products/{id}', 'slipway products update <product>'],
  ['DELETE /admin/model-api/products/{id}', 'slipway products delete <product>'],
  ['GET /admin/model-api/publications', 'slipway publications list'],
  ['POST /admin/model-api/publications', 'slipway publications create <product>'],
  ['POST /admin/model-api/publications/{id}/withdraw', 'slipway publications withdraw <publication>'],
  ['GET /admin/model-api/target-bindings', 'slipway bindings list'],
  ['POST /admin/model-api/target-bindings', 'slipway bindings create <product>'],
  ['GET /admin/model-api/target-bindings/{id}', 'slipway bindings get <binding>'],
  ['DELETE /admin/model-api/target-bindings/{id}', 'slipway bindings delete <binding>'],
  ['POST /admin/model-api/target-bindings/{id}/qualify', 'slipway bindings qualify <binding>'],
  ['GET /audit', 'slipway audit list'],
  ['GET /autopilot/calibration', 'slipway autopilot calibration'],
  ['GET /autopilot/plans', 'slipway plans list'],
  ['POST /autopilot/plans', 'slipway plans create <deployment>'],
  ['GET /autopilot/plans/{id}', 'slipway plans show <plan>'],
  ['POST /autopilot/plans/{id}/approve', 'slipway plans approve <plan>'],
  ['POST /autopilot/plans/{id}/reject', 'slipway plans reject <plan>'],
  ['GET /console/access', 'slipway access list'],
  ['PUT /console/access', 'slipway access revoke <user>'],
  ['DELETE /console/access/{id}', 'slipway access delete <access>'],
  ['DELETE /context-passports/{id}', 'slipway passports revoke <passport>'],
  ['DELETE /context-passports/{id}/record', 'slipway passports delete <passport>'],
  ['GET /context-passports', 'slipway passports list'],
  ['POST /context-passports', 'slipway passports create <deployment> <session>'],
  ['GET /context-passports/{id}', 'slipway passports get <passport>'],
  ['GET /deployments', 'slipway deployments list'],
  ['POST /deployments', 'slipway deployments create <deployment>'],
  ['GET /deployments/{name}', 'slipway deployments get <deployment>'],
  ['PATCH /deployments/{name}', 'slipway deployments update <deployment>'],
  ['DELETE /deployments/{name}', 'slipway deployments delete <deployment>'],
  ['GET /deployments/{name}/autopilot/diagnosis', 'slipway autopilot diagnose <deployment>'],
  ['GET /deployments/{name}/continual-optimization/policy', 'slipway policy get <deployment>'],
  ['PUT /deployments/{name}/continual-optimization/policy', 'slipway policy set <deployment>'],
  ['GET /deployments/{name}/continual-optimization/policy/versions', 'slipway policies versions <deployment>'],
  [
    'GET /deployments/{name}/continual-optimization/policy/versions/{version}',
    'slipway policies get <deployment> <version>',
  ],
  ['POST /deployments/{name}/end-drain', 'slipway deployments end-drain <deployment>'],
  ['GET /deployments/{name}/events', 'slipway events <deployment>'],
  ['GET /deployments/{name}/instances', 'slipway instances list <deployment>'],
  ['GET /deployments/{name}/instances/{id}/logs', 'slipway logs <deployment> <instance>'],
  ['GET /deployments/{name}/metrics', 'slipway deployments metrics <deployment>'],
  ['GET /deployments/{name}/revisions', 'slipway revisions list <deployment>'],
  ['GET /deployments/{name}/revisions/{revision}', 'slipway revisions get <deployment> <revision>'],
  ['GET /deployments/{name}/revisions/{a}/diff/{b}', 'slipway revisions diff <deployment> <from> <to>'],
  ['POST /deployments/{name}/restart', 'slipway deployments restart <deployment>'],
  ['POST /deployments/{name}/rollback', 'slipway rollback <deployment>'],
  ['POST /deployments/{name}/rollouts', 'slipway rollouts create <deployment>'],
  ['GET /deployments/{name}/route', 'slipway route get <deployment>'],
  ['PUT /deployments/{name}/route', 'slipway route set <deployment>'],
  ['GET /model-api-catalog', 'slipway catalog list'],
  ['GET /model-api-catalog/{id}', 'slipway catalog get <product>'],
  ['GET /operations', 'slipway operations list'],
  ['GET /operations/{id}', 'slipway operations get <operation>'],
  ['POST /operations/{id}/cancel', 'slipway operations cancel <operation>'],
  ['GET /operations/{id}/events', 'slipway operations events <operation>'],
  ['POST /operations/{id}/pause', 'slipway rollouts pause <operation>'],
  ['POST /operations/{id}/promote', 'slipway rollouts promote <operation>'],
  ['POST /operations/{id}/resume', 'slipway operations resume <operation>'],
  ['POST /operations/{id}/retry', 'slipway operations retry <operation>'],
  ['GET /sandboxes', 'slipway sandboxes list'],
  ['POST /sandboxes', 'slipway sandboxes create'],
  ['GET /sandboxes/references', 'slipway references list'],
  ['POST /sandboxes/references', 'slipway references create <external-id>'],
  ['DELETE /sandboxes/references/{id}', 'slipway references revoke <reference>'],
  ['DELETE /sandboxes/references/{id}/record', 'slipway references delete <reference>'],
  ['GET /sandboxes/{id}', 'slipway sandboxes get <sandbox>'],
  ['PATCH /sandboxes/{id}', 'slipway sandboxes update <sandbox>'],
  ['DELETE /sandboxes/{id}', 'slipway sandboxes delete <sandbox>'],
  ['GET /sandboxes/{id}/files', 'slipway files list <sandbox>'],
  ['PUT /sandboxes/{id}/files', 'slipway files put <sandbox> <path>'],
  ['DELETE /sandboxes/{id}/files', 'slipway files delete <sandbox> <path>'],
  ['GET /system', 'slipway system'],
  ['GET /targets', 'slipway targets list'],
  ['GET /tenants', 'slipway tenants list'],
  ['POST /tenants', 'slipway tenants create <name>'],
  ['PATCH /tenants/{id}', 'slipway tenants update <tenant>'],
  ['GET /tokens', 'slipway tokens list'],
  ['POST /tokens', 'slipway tokens create <name>'],
  ['DELETE /tokens/{id}', 'slipway tokens revoke <token>'],
  ['POST /tokens/{id}/rotate', 'slipway tokens rotate <token>'],
  ['GET /webhooks', 'slipway webhooks list'],
  ['POST /webhooks', 'slipway webhooks create <url>'],
  ['GET /webhooks/{id}', 'slipway webhooks get <webhook>'],
  ['PATCH /webhooks/{id}', 'slipway webhooks update <webhook>'],
  ['DELETE /webhooks/{id}', 'slipway webhooks delete <webhook>'],
  ['GET /webhooks/{id}/deliveries', 'slipway webhooks deliveries <webhook>'],
  ['POST /webhooks/{id}/deliveries', 'slipway webhooks send <webhook> <deployment> <sequence>'],
  ['GET /webhooks/{id}/deliveries/{event_id}', 'slipway webhooks delivery <webhook> <event>'],
  ['POST /webhooks/{id}/deliveries/{event_id}/redeliver', 'slipway webhooks redeliver <webhook> <event>'],
  ['POST /webhooks/{id}/deliveries/{event_id}/skip', 'slipway webhooks skip <webhook> <event>'],
  ['POST /webhooks/{id}/rotate-secret', 'slipway webhooks rotate-secret <webhook>'],
  ['POST /webhooks/{id}/test', 'slipway webhooks test <webhook>'],
  ['GET /whoami', 'slipway whoami'],
];

/** A method, a path, and an optional body. */
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) \/api\/v1(\/(?:[\w/{}-]|\.(?=\w))+)( \{"[^']{0,400}\})?/g;

/** A longer text is not a message of the api: each request in it costs a comparison with every command. */
const MAX_TEXT = 8 * 1024;

/** Rewrites the requests in a text of the api into lines of this command. A request without such a line stays unchanged. */
export function remedyOf(text: string): string {
  if (text.length > MAX_TEXT || !text.includes('/api/v1/')) return text;
  return text.replace(REQUEST, (request: string, method: string, path: string, body: string | undefined) => {
    const line = lineOf(`${method} ${path}`);
    if (line === undefined) return request;
    const flags = body === undefined ? '' : flagsOf(body);
    return flags === undefined ? request : line + flags;
  });
}

function lineOf(request: string): string | undefined {
  for (const [template, line] of LINES) {
    const [, ...given] = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(request) ?? [];
    if (template !== request && given.length === 0) continue;
    return line.replace(/<[\w-]+>/g, (placeholder) => {
      const name = given.shift();
      return name === undefined || name.startsWith('{') ? placeholder : name;
    });
  }
  return undefined;
}

/** @returns undefined if the body is not JSON */
function flagsOf(body: string): string | undefined {
  try {
    const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
    return fields.map(([name, value]) => ` --${name.replaceAll('_', '-')} '${wordsOf(value)}'`).join('');
  } catch {
    return undefined;
  }
}
