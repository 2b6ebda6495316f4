import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { OperatorConfigError, parseOperatorConfig } from '@slipway/platform-config';
import type { InstanceSpec } from '@slipway/target-driver';
import { EndpointDriver, type EndpointTargetConfig } from './endpoint-driver.js';
import { endpointTarget } from './endpoint-target.js';

const targetWith = (profile: string, allow = '') =>
  parseOperatorConfig(`targets: [{name: a, kind: endpoint, allow: [${allow}], profile: ${profile}}]`, [endpointTarget])
    .targets[0] as EndpointTargetConfig;

const spec = (baseUrl = 'http://127.0.0.1', healthPath = '/health'): InstanceSpec => ({
  instanceId: 'i',
  generation: 1,
  model: { id: 'tiny', uri: 'org/tiny' },
  runtime: { args: {}, env: {} },
  endpoint: { baseUrl, healthPath },
  probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 1 },
});

it.each([
  [
    '{extends: ollama}',
    { unknownModel: 'rejects', identity: ['models_list', 'response_model'], readyTimeoutSeconds: 300 },
  ],
  ['{extends: lmstudio@1}', { unknownModel: 'ignores', identity: ['models_list'], readyTimeoutSeconds: 300 }],
  [
    '{extends: llamacpp}',
    { unknownModel: 'ignores', identity: ['models_list', 'response_model'], hasCacheSalt: false },
  ],
  ['{cache_salt: true}', { serves: ['chat'], unknownModel: 'rejects', hasCacheSalt: true }],
  [
    '{extends: tei}',
    { serves: ['embeddings'], identity: ['response_model', expect.objectContaining({ path: '/info' })] },
  ],
  [
    '{extends: ollama, serves: [embeddings], warm_up: null, identity: [{path: /info, field: model_id, equals: "{model.uri}"}]}',
    {
      serves: ['embeddings'],
      identity: [{ path: '/info', field: 'model_id', equals: 'org/tiny' }],
      readyTimeoutSeconds: 60,
    },
  ],
])('the profile %s decides which checks apply', (profile, traits) => {
  const driver = new EndpointDriver(targetWith(profile));
  expect(driver.traits(spec())).toMatchObject({ isKeyed: false, drain: 'gateway', ...traits });
});

it('a target without a profile has no traits', () => {
  expect(new EndpointDriver({ name: 'a', kind: 'endpoint', allow: [] }).traits(spec())).toBeUndefined();
});

it('a health probe uses the path of the profile until a revision names another', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url);
    outgoing.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const driver = new EndpointDriver(targetWith('{extends: ollama}', `"${baseUrl}"`));
  await driver.observe(spec(baseUrl));
  await driver.observe(spec(baseUrl, '/alive'));
  await driver.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  expect(asked.filter((path) => path !== '/v1/models')).toEqual(['/api/version', '/alive']);
});

it.each([
  ['{extends: olama}', 'profile.extends must be a built-in profile, not olama; did you mean ollama?'],
  ['{extends: constructor}', 'profile.extends must be a built-in profile, not constructor (known: ollama, ollama@1'],
  ['{extends: ollama, helth: /x}', 'profile.helth is not a known key; did you mean health?'],
  [
    '{serves: [chats]}',
    'profile.serves[0] must be chat or completions or responses or embeddings or rerank, not "chats"',
  ],
  ['{cache_salt: yes please}', 'profile.cache_salt must be true or false'],
  ['{unknown_model: ignores}', 'profile.identity must state how a server proves which model it has'],
  ['{identity: [{path: /i, field: m, equals: "{port}"}]}', 'profile.identity uses an unknown placeholder in {port}'],
  ['{warm_up: {timeout_seconds: 0}}', 'profile.warm_up.timeout_seconds must be a whole number from 1 to 86400'],
])('refuses the profile %s', (profile, problem) => {
  expect(() => targetWith(profile)).toThrow(OperatorConfigError);
  expect(() => targetWith(profile)).toThrow(`targets[0].${problem}`);
});
