import { describe, expect, it } from '@jest/globals';
import { requestOf } from '../request-schemas.mjs';
import { commandsOf, type CliWords } from '../src/actions/commands.js';
import { accessCli } from '../src/screens/access/grant-layout.js';
import { SET_ROUTE_CLI } from '../src/screens/deployment/settings/settings-layout.js';
import { CREATE_BINDING_CLI } from '../src/screens/model-apis/layouts.js';

const validate = () => true;
const copied = (operation: string, ids: string[], body: object, cli: CliWords, etag?: string) =>
  commandsOf({ request: { ...requestOf(operation), validate }, ids, body, etag }, cli);

describe('an action as curl', () => {
  it('has the method and the path of its operation, with the names of the row quoted', () =>
    expect(copied('skipWebhookDelivery', ['whk_1', 'evt/2'], {}, { words: 'webhooks skip' }).curl).toEqual({
      method: 'POST',
      path: '/api/v1/webhooks/whk_1/deliveries/evt%2F2/skip',
    }));

  it('sends the body, and the etag that it is based on', () =>
    expect(
      copied('updateWebhook', ['whk_1'], { state: 'disabled' }, { words: 'webhooks update' }, '"v2"').curl,
    ).toEqual({
      method: 'PATCH',
      path: '/api/v1/webhooks/whk_1',
      body: { state: 'disabled' },
      headers: { 'if-match': '"v2"' },
    }));
});

describe('an action as a line for the shell', () => {
  it.each<[string, string[], object, CliWords, string]>([
    [
      'createToken',
      [],
      { name: "Ann's $(ci)", scopes: ['viewer', 'admin'], owner: { type: 'person', id: 'ann' }, expires_in: '30d' },
      { words: 'tokens create', args: ['name'] },
      `slipway tokens create 'Ann'\\''s $(ci)' --scopes viewer,admin --owner '{"type":"person","id":"ann"}' --expires-in 30d`,
    ],
    [
      'rotateToken',
      ['tok_1'],
      { overlap_seconds: 0 },
      { words: 'tokens rotate', flags: { overlap_seconds: '--overlap' } },
      'slipway tokens rotate tok_1 --overlap 0',
    ],
    [
      'createDeployment',
      [],
      { name: 'chat', labels: { team: 'search', tier: '1' }, protection: { deletion: true } },
      { words: 'deployments create', args: ['name'] },
      `slipway deployments create chat --labels team=search,tier=1 --protection '{"deletion":true}'`,
    ],
    [
      'deleteSandbox',
      ['sbx_1'],
      {},
      { words: 'sandboxes delete', end: '--yes' },
      'slipway sandboxes delete sbx_1 --yes',
    ],
    [
      'setRoute',
      ['chat'],
      {
        targets: [
          { revision: 'chat-00001', weight: 90 },
          { revision: 'chat-00002', weight: 10 },
        ],
        reason: 'by hand',
      },
      SET_ROUTE_CLI,
      "slipway routes set chat --targets chat-00001=90,chat-00002=10 --reason 'by hand' --yes",
    ],
    [
      'setConsoleAccess',
      [],
      { provider: 'acme-id', access: true, external_user_id: 'user 1', external_organization_id: 'org1' },
      accessCli('grant'),
      "slipway access grant 'user 1' --provider acme-id --organization org1",
    ],
    [
      'setConsoleAccess',
      [],
      { provider: 'oidc', access: false, external_user_id: 'u1', external_organization_id: 'org1' },
      accessCli('revoke'),
      'slipway access revoke u1 --organization org1 --yes',
    ],
  ])('%s: an argument or a flag for each field', (operation, ids, body, cli, line) =>
    expect(copied(operation, ids, body, cli).cli).toBe(line),
  );

  it('reads the body from a file if it has null, which no flag can hold', () =>
    expect(
      copied('updateDeployment', ['chat'], { labels: { team: null } }, { words: 'deployments update', end: '--yes' })
        .cli,
    ).toBe(`slipway deployments update chat --file - --yes <<< '{"labels":{"team":null}}'`));

  it('is based on the same etag', () =>
    expect(copied('updateWebhook', ['whk_1'], { url: 'https://a' }, { words: 'webhooks update' }, '"v2"').cli).toBe(
      `slipway webhooks update whk_1 --url https://a --if-match '"v2"'`,
    ));
});

describe('a secret of a body', () => {
  const supplier = { supplier: 'Someone', base_url: 'https://models.example.com/v1', model: 'large' };

  it.each<[string, object, CliWords, string]>([
    [
      'createTargetBinding',
      { product_id: 'prd_1', target: { ...supplier, credential: 'very-secret' } },
      CREATE_BINDING_CLI,
      'slipway bindings create prd_1 --supplier Someone --base-url https://models.example.com/v1 --model large --credential-file -',
    ],
    [
      'createSandboxReference',
      { external_id: 'box-1', provider: 'custom', credential: 'very-secret' },
      { words: 'references create', args: ['external_id'] },
      'slipway references create box-1 --provider custom --credential-file -',
    ],
  ])('%s: is never copied', (operation, body, cli, line) => {
    const commands = copied(operation, [], body, cli);
    expect(JSON.stringify(commands)).not.toContain('very-secret');
    expect(JSON.stringify(commands.curl.body)).toContain('"credential":"CREDENTIAL"');
    expect(commands.cli).toBe(line);
  });
});
