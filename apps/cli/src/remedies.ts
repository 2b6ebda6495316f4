/** Maps requests in the api's errors to the equivalent commands. Placeholders have the same order. */
const LINES: readonly (readonly [request: string, line: string])[] = [
  ['GET /admin/model-api/products', 'slipway products list'],
  ['GET /admin/model-api/publications', 'slipway publications list'],
  ['GET /admin/model-api/target-bindings', 'slipway bindings list'],
  ['POST /admin/model-api/target-bindings/{id}/qualify', 'slipway bindings qualify <binding>'],
  ['GET /autopilot/plans', 'slipway plans list'],
  ['POST /autopilot/plans', 'slipway plans create <deployment>'],
  ['POST /autopilot/plans/{id}/approve', 'slipway plans approve <plan>'],
  ['PUT /console/access', 'slipway access revoke <user>'],
  ['GET /console/access', 'slipway access list'],
  ['DELETE /context-passports/{id}', 'slipway passports revoke <passport>'],
  ['POST /context-passports', 'slipway passports create <deployment> <session>'],
  ['GET /deployments', 'slipway deployments list'],
  ['PATCH /deployments/{name}', 'slipway deployments update <deployment>'],
  ['GET /deployments/{name}/autopilot/diagnosis', 'slipway autopilot diagnose <deployment>'],
  ['PUT /deployments/{name}/continual-optimization/policy', 'slipway policy set <deployment>'],
  ['GET /deployments/{name}/continual-optimization/policy/versions', 'slipway policies versions <deployment>'],
  ['POST /deployments/{name}/end-drain', 'slipway deployments end-drain <deployment>'],
  ['GET /deployments/{name}/instances', 'slipway instances list <deployment>'],
  ['GET /deployments/{name}/instances/{id}/logs', 'slipway logs <deployment> <instance>'],
  ['GET /deployments/{name}/revisions', 'slipway revisions list <deployment>'],
  ['PUT /deployments/{name}/route', 'slipway route set <deployment>'],
  ['GET /model-api-catalog', 'slipway catalog list'],
  ['GET /operations', 'slipway operations list'],
  ['POST /operations/{id}/cancel', 'slipway operations cancel <operation>'],
  ['POST /operations/{id}/pause', 'slipway rollouts pause <operation>'],
  ['POST /operations/{id}/promote', 'slipway rollouts promote <operation>'],
  ['POST /operations/{id}/resume', 'slipway operations resume <operation>'],
  ['POST /operations/{id}/retry', 'slipway operations retry <operation>'],
  ['GET /sandboxes', 'slipway sandboxes list'],
  ['GET /sandboxes/references', 'slipway references list'],
  ['DELETE /sandboxes/references/{id}', 'slipway references revoke <reference>'],
  ['GET /sandboxes/{id}/files', 'slipway files list <sandbox>'],
  ['GET /tenants', 'slipway tenants list'],
  ['PATCH /tenants/{id}', 'slipway tenants update <tenant>'],
  ['GET /tokens', 'slipway tokens list'],
  ['POST /tokens/{id}/rotate', 'slipway tokens rotate <token>'],
  ['GET /webhooks', 'slipway webhooks list'],
];

/** A method, a path, and an optional body. */
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) \/api\/v1(\/(?:[\w/{}-]|\.(?=\w))+)( \{"[^']{0,400}\})?/g;

/** A longer text is not from the api: each request in it costs a comparison with every command. */
const MAX_REMEDIATION = 8 * 1024;

/** Rewrites the api's remediation into lines of this command. A request without such a line stays unchanged. */
export function remedyOf(remediation: string): string {
  if (remediation.length > MAX_REMEDIATION) return remediation;
  return remediation.replace(REQUEST, (request: string, method: string, path: string, body: string | undefined) => {
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
    return line.replace(/<\w+>/g, (placeholder) => {
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
    return fields.map(([name, value]) => ` --${name.replaceAll('_', '-')} '${JSON.stringify(value)}'`).join('');
  } catch {
    return undefined;
  }
}
