import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { INFERENCE_POOLS, LEADER_WORKER_SETS, SERVICES, type KubeKind } from '../api/kinds.js';
import { KubeApi } from '../api/requests.js';
import { neededRules, ruleText } from './target-health-rules.js';
import { TargetHealthWatch, type TargetHealthOptions } from './target-health.js';

const NAMESPACE = 'models';
const rules = neededRules({ writesSecrets: true, usesGroups: false, usesInferencePools: true });

let stub: StubApi;
let api: KubeApi;
let health: TargetHealthWatch;
let namespaces: string[];
let kinds: KubeKind[];
beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster(), { shorterPauses: 50 });
  namespaces = [NAMESPACE];
  kinds = [];
  health = watch({ roundMs: 50, quietMs: 50, repairMs: 5 });
});
afterEach(async () => {
  await Promise.all([health.close(), api.close()]);
  await stub.close();
});

/** Each test has one watch: `health`. */
const watch = (times: Partial<TargetHealthOptions>) =>
  new TargetHealthWatch(api, {
    server: 'https://cluster.example',
    namespaces: () => namespaces,
    rules: () => rules,
    kinds: () => kinds,
    ...times,
  });
const becomes = (state: 'ok' | 'degraded') =>
  until(
    () => health.state,
    (now) => now.state === state,
    20_000,
  );
const REVIEWS = 'selfsubjectrulesreviews';
const asked = (plural = REVIEWS) => stub.requests.filter((one) => one.plural === plural);
/** The server cannot list the rights of the account, like one with an authorizer of a cloud. */
const listsOnly = (resourceRules: unknown[], incomplete = true) =>
  stub.odd(
    { plural: REVIEWS },
    { body: JSON.stringify({ kind: 'SelfSubjectRulesReview', status: { resourceRules, incomplete } }), code: 201 },
  );

describe('the health of a target', () => {
  it.each(rules.map((rule) => ({ rule, text: ruleText(rule) })))(
    'names the missing right "$text", and no longer names it when it is granted again',
    async ({ rule: { verb, resource, subresource }, text }) => {
      const allow = stub.forbid({ verb: (subresource ?? verb) as 'list', plural: resource });
      health.start();
      const { message } = await becomes('degraded');
      expect(message).toContain(`is not allowed to: ${text} in namespace models. Allow this in a Role.`);
      allow();
      await becomes('ok');
    },
  );

  it('names a missing type in addition to the rights, and no longer names it when the server has it', async () => {
    kinds = [LEADER_WORKER_SETS, INFERENCE_POOLS];
    const installed = stub.lacks(INFERENCE_POOLS);
    const allow = stub.forbid({ verb: 'create', plural: 'services' });
    health.start();
    const message = await until(
      () => health.state.message ?? '',
      (text) => text.includes('is not allowed to'),
    );
    expect(message).toBe(
      'https://cluster.example does not have the type inferencepools.inference.networking.k8s.io/v1. Install its CustomResourceDefinition. ' +
        "Slipway's account on https://cluster.example is not allowed to: create services in namespace models. Allow this in a Role.",
    );
    installed();
    allow();
    await becomes('ok');
  });

  it('needs one request for all rights in a namespace', async () => {
    namespaces = [NAMESPACE, 'models-acme', 'models-globex'];
    health = watch({ roundMs: 3_600_000 });
    health.start();
    await until(asked, (all) => all.length >= 3);
    await new Promise((done) => setTimeout(done, 200));
    expect(stub.requests.map(({ plural, body }) => `${plural} ${body.spec.namespace}`).sort()).toEqual(
      namespaces.map((one) => `${REVIEWS} ${one}`).sort(),
    );
    expect(health.state).toEqual({ state: 'ok' });
  });

  it.each<[string, unknown[]]>([
    ['everything', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]],
    [
      'all of each group',
      [...new Set(rules.map(({ group }) => group))].map((group) => ({
        verbs: ['*'],
        apiGroups: [group],
        resources: ['*'],
      })),
    ],
    [
      'subresources of every type',
      [
        { verbs: ['*'], apiGroups: ['*'], resources: rules.map(({ resource }) => resource) },
        { verbs: ['get'], apiGroups: [''], resources: ['*/log'] },
      ],
    ],
  ])('knows rules of the account for %s', async (_what, granted) => {
    listsOnly(granted, false);
    health.start();
    await until(asked, (all) => all.length > 3);
    expect(health.state).toEqual({ state: 'ok' });
  });

  it.each<[string, unknown]>([
    ['for named objects only', { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: ['slw-a'] }],
    ['for no group', { verbs: ['*'], resources: ['*'] }],
    ['of which nothing is known', {}],
  ])('does not count a rule %s', async (_what, granted) => {
    listsOnly([granted], false);
    health.start();
    expect((await becomes('degraded')).message).toContain('has no right in namespace models');
  });

  it('checks a right alone that the server cannot list, and names it if it is missing', async () => {
    listsOnly([{ verbs: ['*'], apiGroups: ['apps', ''], resources: ['*'] }]);
    const allow = stub.forbid({ verb: 'create', plural: 'poddisruptionbudgets' });
    health.start();
    const { message } = await becomes('degraded');
    expect(message).toContain('not allowed to: create poddisruptionbudgets.policy in namespace models. Allow');
    const single = asked('selfsubjectaccessreviews').map(({ body }) => body.spec.resourceAttributes.group as string);
    expect(single.filter((group) => !['policy', 'inference.networking.k8s.io'].includes(group))).toEqual([]);
    allow();
    await becomes('ok');
  });

  it('shows since when a server does not answer, refuses us or is away, and is ok again soon after its return', async () => {
    await health.close();
    health = watch({ roundMs: 50, repairMs: 5, limitMs: 250 });
    health.start();
    await becomes('ok');
    const odd = [{ silent: true }, { status: 401 }, { status: 500 }, { cut: true }, { body: '<html>' }] as const;
    for (const oddity of odd) {
      const before = new Date().toISOString();
      const back = stub.odd({ plural: REVIEWS }, oddity);
      const { message = '' } = await becomes('degraded');
      const since = /, since (\S+)$/.exec(message)?.[1] ?? '';
      expect(since >= before).toBe(true);
      back();
      await becomes('ok');
    }
  });

  it('checks the rights at once after another call was forbidden, and the paused calls continue with the right', async () => {
    health = watch({ roundMs: 3_600_000, repairMs: 20 });
    health.start();
    await until(asked, (all) => all.length >= 1);
    const allow = stub.forbid({ verb: 'create', plural: 'services' });
    const call = () =>
      api.create(SERVICES, NAMESPACE, { metadata: { name: 'x' } }).then(
        () => 'made',
        (error: unknown) => error,
      );
    for (let time = 0; time < 3; time += 1) health.note(await call());
    await becomes('degraded');
    allow();
    await becomes('ok');
    expect(await call()).toBe('made');
  });

  it('asks a used server that is quiet, and no server that answers other calls', async () => {
    health = watch({ roundMs: 3_600_000, quietMs: 100, repairMs: 5 });
    health.start();
    await until(asked, (all) => all.length >= 1);
    stub.forgetRequests();
    await new Promise((done) => setTimeout(done, 400));
    expect(stub.requests).toEqual([]);
    health.used();
    await until(asked, (all) => all.length >= 3);
    stub.forgetRequests();
    for (let time = 0; time < 20; time += 1) {
      await api.version();
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(asked()).toEqual([]);
  });

  it('keeps a distance between requests, for any number of namespaces without rights', async () => {
    namespaces = Array.from({ length: 40 }, (_, number) => `models-${number}`);
    stub.forbid({ verb: 'create' });
    health = watch({ roundMs: 200, repairMs: 50 });
    health.start();
    await until(asked, (all) => all.length >= 40, 30_000);
    stub.forgetRequests();
    await new Promise((done) => setTimeout(done, 1_000));
    // At least 80 % of 50 ms, and the timers of Node fire a little too early.
    expect(asked().length).toBeLessThanOrEqual(1_000 / 38);
  });

  it('names no more than people read', async () => {
    // All except those on pods, of which there are three.
    for (const plural of new Set(rules.map(({ resource }) => resource))) if (plural !== 'pods') stub.forbid({ plural });
    health.start();
    const message = await until(
      () => health.state.message ?? '',
      (text) => text.includes(`and ${rules.length - 3 - 8} more`),
    );
    expect(message.length).toBeLessThan(1_000);
  });

  it('names a namespace in which no right is granted instead of all rights, because it may not exist', async () => {
    for (const plural of new Set(rules.map(({ resource }) => resource))) stub.forbid({ plural });
    health.start();
    const message = await until(
      () => health.state.message ?? '',
      (text) => text.includes('has no right'),
    );
    expect(message).toBe(
      `Slipway's account on https://cluster.example has no right in namespace ${NAMESPACE}. ` +
        'Create the namespace if it does not exist, and bind the Role of the target in it.',
    );
  });
});
