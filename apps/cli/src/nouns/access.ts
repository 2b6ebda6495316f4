import { idByName } from './names.js';
import type { Flag, Noun, Verb } from './verb.js';
import {
  ACCESS,
  AUDIT,
  CREATED_TENANT,
  CREATED_TOKEN,
  CREATED_WEBHOOK,
  DELIVERY,
  TENANT,
  TOKEN,
  WEBHOOK,
  SYSTEM,
  WHO,
} from './views.js';

const OWNER: Flag = { flags: '--owner <json>', summary: '{"type":"person","id":"alice"}', body: 'owner', as: 'json' };

export const tokens: Noun = {
  noun: 'tokens',
  aliases: ['token'],
  summary: 'Who may call the api',
  verbs: [
    {
      verb: 'list',
      summary: 'List tokens',
      examples: ['slipway tokens list'],
      isList: true,
      view: TOKEN,
      call: (client, { options }) => client.tokens.list(options),
    },
    {
      verb: 'create',
      args: '<name>',
      summary: 'Create a token, and show it this once',
      examples: [
        `slipway tokens create alice --scopes operator --owner '{"type":"person","id":"alice"}'`,
        'slipway tokens create ci --scopes operator --json token',
      ],
      flags: [
        { flags: '--scopes <list>', summary: 'viewer, operator, admin, ...', body: 'scopes', as: 'list' },
        OWNER,
        { flags: '--expires-at <time>', summary: 'when it ends', body: 'expires_at' },
      ],
      takesBody: true,
      view: CREATED_TOKEN,
      call: (client, { args: [name], body, options }) => client.tokens.create({ ...body, name }, options),
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
  summary: 'Those who share this Slipway without seeing each other',
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
      summary: 'Create a tenant, and show its first token this once',
      examples: ['slipway tenants create acme --external-organization-ids org1'],
      flags: [
        {
          flags: '--external-organization-ids <list>',
          summary: 'whose hosted identities it may let in',
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
          summary: 'all of them',
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
    { flags: IDENTITY, summary: 'where the user belongs', body: 'external_organization_id' },
    { flags: '--scopes <list>', summary: 'viewer, operator, admin, ...', body: 'scopes', as: 'list' },
    { flags: '--display-name <text>', summary: 'for who reads the list', body: 'display_name' },
    { flags: '--provider <name>', summary: 'as SLIPWAY_IDENTITY_PROVIDER has it, oidc unless said', body: 'provider' },
  ],
  takesBody: true,
  ...(!access && { confirm: 'yes' as const }),
  view: ACCESS,
  call: (client, { args: [external_user_id], body, options }) =>
    client.consoleAccess.set({ provider: 'oidc', ...body, external_user_id, access }, options),
});

export const access: Noun = {
  noun: 'access',
  summary: 'Hosted identities that may sign in',
  verbs: [
    {
      verb: 'list',
      summary: 'List who was let in',
      examples: ['slipway access list'],
      isList: true,
      view: ACCESS,
      call: (client, { options }) => client.consoleAccess.list(options),
    },
    accessVerb('grant', true, 'Let a user of the identity provider in'),
    accessVerb('revoke', false, 'Keep a user out again'),
  ],
};

export const webhooks: Noun = {
  noun: 'webhooks',
  aliases: ['webhook'],
  summary: 'Who is told of events',
  verbs: [
    {
      verb: 'list',
      summary: 'List webhooks',
      examples: ['slipway webhooks list'],
      isList: true,
      view: WEBHOOK,
      call: (client, { options }) => client.webhooks.list(options),
    },
    {
      verb: 'create',
      args: '<url>',
      summary: 'Create a webhook, and show the secret of its signatures this once',
      examples: ['slipway webhooks create https://hooks.example.com/slipway --event-types rollout.promoted'],
      flags: [
        { flags: '--event-types <list>', summary: 'only these; all unless said', body: 'event_types', as: 'list' },
        { flags: '--deployments <list>', summary: 'only of these', body: 'deployments', as: 'list' },
        { flags: '--description <text>', summary: 'what it is for', body: 'description' },
      ],
      takesBody: true,
      view: CREATED_WEBHOOK,
      call: (client, { args: [url], body, options }) => client.webhooks.create({ ...body, url }, options),
    },
    {
      verb: 'delete',
      args: '<webhook>',
      summary: 'Delete a webhook',
      examples: ['slipway webhooks delete wh_1 --yes'],
      confirm: 'name',
      view: {
        name: 'id',
        columns: [
          { title: 'ID', of: 'id' },
          { title: 'STATE', of: 'state' },
        ],
      },
      call: (client, { args: [id], options }) => client.webhooks.delete(id!, options),
    },
    {
      verb: 'deliveries',
      args: '<webhook>',
      summary: 'List what was sent to a webhook, and what it answered',
      examples: ['slipway webhooks deliveries wh_1'],
      isList: true,
      view: DELIVERY,
      call: (client, { args: [id], options }) => client.webhooks.deliveries(id!, options),
    },
  ],
};

export const audit: Noun = {
  noun: 'audit',
  summary: 'Who did what',
  verbs: [
    {
      verb: 'list',
      summary: 'List what was done, the newest first',
      examples: ['slipway audit list --resource-name chat'],
      flags: [
        { flags: '--action <action>', summary: 'only this', query: 'action' },
        { flags: '--actor <actor>', summary: 'only by this one: type:id', query: 'actor' },
        { flags: '--resource-type <type>', summary: 'only to these', query: 'resource_type' },
        { flags: '--resource-name <name>', summary: 'only to this one', query: 'resource_name' },
      ],
      isList: true,
      view: AUDIT,
      call: (client, { options }) => client.audit.list(options),
    },
    {
      verb: 'verify',
      summary: 'Prove from here that no row of the list was changed: recomputes its chain of hashes',
      examples: ['slipway audit verify'],
      flags: [
        {
          flags: '--expect-head <sequence:hash>',
          summary: 'a head that was kept elsewhere: nothing up to it was cut off',
        },
      ],
      run: async (session, given) => (await import('../audit-chain.js')).verifyAudit(session, given),
    },
  ],
};

export const whoami: Verb = {
  verb: 'whoami',
  summary: 'Show as whom one is logged in, where, and what one may do',
  examples: ['slipway whoami'],
  view: WHO,
  call: (client, { options }) => client.whoAmI(options),
};

export const system: Verb = {
  verb: 'system',
  summary: 'Show how the service itself is doing: versions, backlog, workers, gateways',
  examples: ['slipway system', 'slipway system --json workers,gateways'],
  view: SYSTEM,
  call: (client, { options }) => client.system(options),
};
