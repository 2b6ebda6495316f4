import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { INFERENCE_POOLS, LEADER_WORKER_SETS, type KubeKind } from '../api/kinds.js';
import { KubeApi } from '../api/requests.js';
import { neededRules, ruleText } from './target-health-rules.js';
import { TargetHealthWatch, type TargetHealthOptions } from './target-health.js';

const NAMESPACE = 'models';
/** The shortest pause between two requests, by default. */
const PAUSE_MS = 100;
/** The timers of Node fire at most this much too early. */
const EARLY_MS = 2;
const rules = neededRules({ writesSecrets: true, usesGroups: false, usesInferencePools: true });

let stub: StubApi;
let api: KubeApi;
let health: TargetHealthWatch;
let namespaces: string[];
let kinds: KubeKind[];
beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster());
  namespaces = [NAMESPACE];
  kinds = [];
  health = watch({ roundMs: 50, shortestPauseMs: 1, awayPauseMs: 20 });
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
const asked = () => stub.requests.filter(({ plural }) => plural === 'selfsubjectaccessreviews');

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
    // A refusal of this request does not count as a missing type.
    stub.odd({ plural: 'types' }, { status: 403 });
    stub.forgetRequests();
    await until(
      () => stub.requests.filter(({ plural }) => plural === 'types'),
      (all) => all.length > 3,
    );
    expect(health.state).toEqual({ state: 'ok' });
  });

  it('requests every rule in every namespace at once when it begins', async () => {
    namespaces = [NAMESPACE, 'models-acme'];
    // One request after the other would take 48 of the longest pauses.
    health = watch({ roundMs: 3_600_000 });
    health.start();
    await until(asked, (all) => all.length >= rules.length * 2);
    const seen = new Set(
      asked().map(({ body }) => {
        const { namespace, ...rule } = body.spec.resourceAttributes;
        return `${namespace} ${ruleText(rule)}`;
      }),
    );
    expect(seen.size).toBe(rules.length * 2);
    expect(health.state).toEqual({ state: 'ok' });
  });

  it('shows since when a server does not answer, refuses us or is away, and is ok again soon after its return', async () => {
    health = watch({ roundMs: 50, shortestPauseMs: 1, awayPauseMs: 20, limitMs: 250 });
    health.start();
    await becomes('ok');
    const odd = [{ silent: true }, { status: 401 }, { status: 500 }, { cut: true }, { body: '<html>' }] as const;
    for (const oddity of odd) {
      const before = new Date().toISOString();
      const back = stub.odd({ plural: 'selfsubjectaccessreviews' }, oddity);
      const { message = '' } = await becomes('degraded');
      const since = /, since (\S+)$/.exec(message)?.[1] ?? '';
      expect(since >= before).toBe(true);
      await until(asked, (all) => all.length > 0);
      back();
      await becomes('ok');
    }
  });

  it('checks the rules at once after another call was forbidden', async () => {
    // The regular check of this rule would come after 11 of the longest pauses, 44 s.
    health = watch({ roundMs: 3_600_000 });
    health.start();
    await until(asked, (all) => all.length >= rules.length);
    stub.forbid({ verb: 'delete', plural: 'services' });
    const refused = await api
      .delete({ group: '', version: 'v1', plural: 'services', kind: 'Service' }, NAMESPACE, 'x')
      .catch((error: unknown) => error);
    health.note(refused);
    await becomes('degraded');
  });

  it('sends few requests while nothing happens, for any number of namespaces', async () => {
    namespaces = Array.from({ length: 40 }, (_, number) => `models-${number}`);
    health = watch({ roundMs: 200 });
    health.start();
    await until(asked, (all) => all.length >= rules.length * 40, 30_000);
    // The last of the requests without a pause may still arrive.
    await until(asked, (all) => all.length >= rules.length * 40 + 3);
    stub.forgetRequests();
    const startedAt = performance.now();
    const seen = await until(asked, (all) => all.length >= 7);
    expect(seen.length).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / (PAUSE_MS - EARLY_MS));
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
