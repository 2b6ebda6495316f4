import { tenantIdOf, tokenIdOf } from './names.js';
import type { EndpointVerb, Flag, Noun } from './verb.js';
import { ACCESS, AUDIT, CREATED_TENANT, CREATED_TOKEN, DELETED, TENANT, TOKEN, SYSTEM, WHO } from './views.js';

const OWNER: Flag = {
  flags: '--owner <json>',
  summary: 'owner of the token, such as {"type":"person","id":"alice"}',
  body: 'owner',
  as: 'json',
};

const LIFE: readonly Flag[] = [
  { flags: '--expires-at <time>', summary: 'when the token expires', body: 'expires_at', as: 'until' },
  { flags: '--expires-in <time>', summary: 'how long the token lives, such as 12h or 30d', body: 'expires_in' },
];

export const tokens: Noun = {
  noun: 'tokens',
  aliases: ['token'],
  summary: 'Manage API tokens',
  verbs: [
    {
      verb: 'list',
      operation: 'listTokens',
      summary: 'List tokens',
      examples: ['slipway tokens list'],
      flags: [{ flags: '--state <state>', summary: 'only tokens in this state', query: 'state' }],
      view: TOKEN,
    },
    {
      verb: 'create',
      operation: 'createToken',
      summary: 'Create a token and show it once; it lives 90 days by default',
      examples: [
        `slipway tokens create alice --scopes operator --owner '{"type":"person","id":"alice"}'`,
        'slipway tokens create ci --scopes operator --expires-in 30d --json token',
      ],
      flags: [
        { flags: '--scopes <list>', summary: 'scopes: viewer, operator, admin, ...', body: 'scopes', as: 'list' },
        OWNER,
        ...LIFE,
      ],
      view: CREATED_TOKEN,
      argFields: ['name'],
    },
    {
      verb: 'rotate',
      operation: 'rotateToken',
      summary: 'Replace a token, by its id or name, and show the new one once',
      examples: ['slipway tokens rotate tok_1 --overlap 24h -o name'],
      flags: [
        {
          flags: '--overlap <time>',
          summary: 'how long the old token stays usable, such as 0s or 24h (default: 1h)',
          body: 'overlap_seconds',
          as: 'seconds',
        },
        ...LIFE,
      ],
      tellsKey: true,
      view: CREATED_TOKEN,
      idOf: tokenIdOf,
    },
    {
      verb: 'revoke',
      operation: 'revokeToken',
      summary: 'Revoke a token, by its id or name',
      examples: ['slipway tokens revoke tok_1 --yes'],
      view: TOKEN,
      idOf: tokenIdOf,
    },
  ],
};

export const tenants: Noun = {
  noun: 'tenants',
  aliases: ['tenant'],
  summary: 'Manage tenants, which share this server but not their data',
  verbs: [
    {
      verb: 'list',
      operation: 'listTenants',
      summary: 'List tenants',
      examples: ['slipway tenants list'],
      view: TENANT,
    },
    {
      verb: 'create',
      operation: 'createTenant',
      summary: 'Create a tenant and show its first token once',
      examples: ['slipway tenants create acme --external-organization-ids org1'],
      flags: [
        {
          flags: '--external-organization-ids <list>',
          summary: 'organizations whose users the tenant may let sign in',
          body: 'external_organization_ids',
          as: 'list',
        },
        OWNER,
      ],
      view: CREATED_TENANT,
      argFields: ['name'],
    },
    {
      verb: 'update',
      operation: 'updateTenant',
      summary: 'Change the organizations of a tenant, by its id or name',
      examples: ['slipway tenants update ten_1 --external-organization-ids org1,org2'],
      flags: [
        {
          flags: '--external-organization-ids <list>',
          summary: 'all organizations of the tenant; replaces the current list',
          body: 'external_organization_ids',
          as: 'list',
        },
      ],
      view: TENANT,
      idOf: tenantIdOf,
    },
  ],
};

const IDENTITY = '--organization <id>';
const accessVerb = (verb: string, access: boolean, summary: string): EndpointVerb => ({
  verb,
  operation: 'setConsoleAccess',
  args: '<user>',
  summary,
  examples: [`slipway access ${verb} u1 ${IDENTITY.replace('<id>', 'org1')}${access ? ' --scopes viewer' : ' --yes'}`],
  flags: [
    {
      flags: IDENTITY,
      summary: 'organization of the user at the identity provider',
      body: 'external_organization_id',
      source: 'organization',
    },
    { flags: '--scopes <list>', summary: 'scopes: viewer, operator, admin, ...', body: 'scopes', as: 'list' },
    { flags: '--display-name <text>', summary: 'name of the user in lists', body: 'display_name' },
    {
      flags: '--provider <name>',
      summary: 'identity provider, as in SLIPWAY_IDENTITY_PROVIDER (default: oidc)',
      body: 'provider',
      source: 'identity provider',
    },
  ],
  ...(!access && { confirm: 'yes' as const }),
  view: ACCESS,
  argFields: ['external_user_id'],
  without: ['access'],
  bodyOf: ({ body }) => ({ provider: 'oidc', ...body, access }),
});

export const access: Noun = {
  noun: 'access',
  summary: 'Manage which users of the identity provider may sign in',
  verbs: [
    {
      verb: 'list',
      operation: 'listConsoleAccess',
      summary: 'List users and their access',
      examples: ['slipway access list'],
      flags: [{ flags: '--status <status>', summary: 'only people with this status', query: 'status' }],
      view: ACCESS,
    },
    accessVerb('grant', true, 'Let a user of the identity provider sign in'),
    accessVerb('revoke', false, 'Revoke the access of a user'),
    {
      verb: 'delete',
      operation: 'deleteConsoleAccess',
      summary: 'Delete the entry of a user whose access is revoked, by its id',
      examples: ['slipway access delete cac_1 --yes'],
      view: DELETED,
    },
  ],
};

export const audit: Noun = {
  noun: 'audit',
  summary: 'List and verify the audit log',
  verbs: [
    {
      verb: 'list',
      operation: 'listAudit',
      summary: 'List audit rows, newest first',
      examples: ['slipway audit list --resource-name chat', 'slipway audit list --since 2d'],
      flags: [
        { flags: '--action <action>', summary: 'only rows with this action', query: 'action', source: 'action' },
        { flags: '--actor <actor>', summary: 'only rows of this actor, as type:id', query: 'actor', source: 'actor' },
        {
          flags: '--resource-type <type>',
          summary: 'only rows about resources of this type',
          query: 'resource_type',
          source: 'resource type',
        },
        {
          flags: '--resource-name <name>',
          summary: 'only rows about the resource with this name',
          query: 'resource_name',
          source: 'resource name',
        },
      ],
      view: AUDIT,
    },
    {
      verb: 'verify',
      summary: 'Recompute the hash chain on this machine to prove that no row was changed',
      examples: ['slipway audit verify'],
      flags: [
        {
          flags: '--expect-head <sequence:hash>',
          summary: 'head that you saved earlier; fail if it is not in the list',
        },
      ],
      run: async (session, given) => (await import('../audit-chain.js')).verifyAudit(session, given),
    },
  ],
};

export const whoami: EndpointVerb = {
  verb: 'whoami',
  operation: 'whoAmI',
  summary: 'Show your identity, tenant and scopes',
  examples: ['slipway whoami'],
  view: WHO,
};

export const system: EndpointVerb = {
  verb: 'system',
  operation: 'getSystem',
  summary: 'Show the state of the service: versions, backlog, workers, gateways',
  examples: ['slipway system', 'slipway system --json workers,gateways'],
  view: SYSTEM,
};
