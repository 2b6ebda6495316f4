import { idByName } from './names.js';
import type { Flag, Noun, Verb } from './verb.js';
import { ACCESS, AUDIT, CREATED_TENANT, CREATED_TOKEN, DELETED, TENANT, TOKEN, SYSTEM, WHO } from './views.js';

const SCOPES = ['viewer', 'operator', 'admin'];

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
      summary: 'List tokens',
      examples: ['slipway tokens list'],
      flags: [
        {
          flags: '--state <state>',
          summary: 'only tokens in this state',
          query: 'state',
          values: ['active', 'revoked', 'expired'],
        },
      ],
      isList: true,
      isByTime: true,
      view: TOKEN,
      call: (client, { options }) => client.tokens.list(options),
    },
    {
      verb: 'create',
      args: '<name>',
      summary: 'Create a token and show it once; it lives 90 days by default',
      examples: [
        `slipway tokens create alice --scopes operator --owner '{"type":"person","id":"alice"}'`,
        'slipway tokens create ci --scopes operator --expires-in 30d --json token',
      ],
      flags: [
        {
          flags: '--scopes <list>',
          summary: 'scopes: viewer, operator, admin, ...',
          body: 'scopes',
          as: 'list',
          values: SCOPES,
        },
        OWNER,
        ...LIFE,
      ],
      takesBody: true,
      view: CREATED_TOKEN,
      call: (client, { args: [name], body, options }) => client.tokens.create({ ...body, name }, options),
    },
    {
      verb: 'rotate',
      args: '<token>',
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
      takesBody: true,
      takesKey: true,
      view: CREATED_TOKEN,
      call: async (client, { args: [given], body, options }) =>
        client.tokens.rotate(await idByName('token', client.tokens.list({ limit: 100 }), given!), body, options),
    },
    {
      verb: 'revoke',
      args: '<token>',
      summary: 'Revoke a token, by its id or name',
      examples: ['slipway tokens revoke tok_1 --yes'],
      confirm: 'yes',
      view: TOKEN,
      call: async (client, { args: [given], options }) =>
        client.tokens.revoke(await idByName('token', client.tokens.list({ limit: 100 }), given!), options),
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
      summary: 'List tenants',
      examples: ['slipway tenants list'],
      isList: true,
      view: TENANT,
      call: (client, { options }) => client.tenants.list(options),
    },
    {
      verb: 'create',
      args: '<name>',
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
      takesBody: true,
      view: CREATED_TENANT,
      call: (client, { args: [name], body, options }) => client.tenants.create({ ...body, name }, options),
    },
    {
      verb: 'update',
      args: '<tenant>',
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
      takesBody: true,
      view: TENANT,
      call: async (client, { args: [given], body, options }) =>
        client.tenants.update(await idByName('tenant', client.tenants.list({ limit: 100 }), given!), body, options),
    },
  ],
};

const IDENTITY = '--organization <id>';
const accessVerb = (verb: string, access: boolean, summary: string): Verb => ({
  verb,
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
    {
      flags: '--scopes <list>',
      summary: 'scopes: viewer, operator, admin, ...',
      body: 'scopes',
      as: 'list',
      values: SCOPES,
    },
    { flags: '--display-name <text>', summary: 'name of the user in lists', body: 'display_name' },
    {
      flags: '--provider <name>',
      summary: 'identity provider, as in SLIPWAY_IDENTITY_PROVIDER (default: oidc)',
      body: 'provider',
      source: 'identity provider',
    },
  ],
  takesBody: true,
  ...(!access && { confirm: 'yes' as const }),
  view: ACCESS,
  call: (client, { args: [external_user_id], body, options }) =>
    client.consoleAccess.set({ provider: 'oidc', ...body, external_user_id, access }, options),
});

export const access: Noun = {
  noun: 'access',
  summary: 'Manage which users of the identity provider may sign in',
  verbs: [
    {
      verb: 'list',
      summary: 'List users and their access',
      examples: ['slipway access list'],
      flags: [
        {
          flags: '--status <status>',
          summary: 'only people with this status',
          query: 'status',
          values: ['active', 'revoked'],
        },
      ],
      isList: true,
      isByTime: true,
      view: ACCESS,
      call: (client, { options }) => client.consoleAccess.list(options),
    },
    accessVerb('grant', true, 'Let a user of the identity provider sign in'),
    accessVerb('revoke', false, 'Revoke the access of a user'),
    {
      verb: 'delete',
      args: '<access>',
      summary: 'Delete the entry of a user whose access is revoked, by its id',
      examples: ['slipway access delete cac_1 --yes'],
      confirm: 'yes',
      view: DELETED,
      call: (client, { args: [id], options }) => client.consoleAccess.delete(id!, options),
    },
  ],
};

export const audit: Noun = {
  noun: 'audit',
  summary: 'List and verify the audit log',
  verbs: [
    {
      verb: 'list',
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
      isList: true,
      isByTime: true,
      view: AUDIT,
      call: (client, { options }) => client.audit.list(options),
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

export const whoami: Verb = {
  verb: 'whoami',
  summary: 'Show your identity, tenant and scopes',
  examples: ['slipway whoami'],
  view: WHO,
  call: (client, { options }) => client.whoAmI(options),
};

export const system: Verb = {
  verb: 'system',
  summary: 'Show the state of the service: versions, backlog, workers, gateways',
  examples: ['slipway system', 'slipway system --json workers,gateways'],
  view: SYSTEM,
  call: (client, { options }) => client.system(options),
};
