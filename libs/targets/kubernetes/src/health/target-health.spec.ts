import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { INFERENCE_POOLS, LEADER_WORKER_SETS, type KubeKind } from '../api/kinds.js';
import { KubeApi } from '../api/requests.js';
import { neededRules, ruleText } from './target-health-rules.js';
import { TargetHealthWatch, type TargetHealthOptions } from './target-health.js';

const NAMESPACE = 'models';
/** The shortest pause between two questions, by default. */
const PAUSE_MS = 100;
/** Timers of Node fire at most this early. */
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
    'names "$text" when it is missing, and forgets it when it is given back',
    async ({ rule: { verb, resource, subresource }, text }) => {
      const allow = stub.forbid({ verb: (subresource ?? verb) as 'list', plural: resource });
      health.start();
      const { message } = await becomes('degraded');
      expect(message).toContain(`is not allowed to: ${text} in namespace models. Allow this in a Role.`);
      allow();
      await becomes('ok');
    },
  );

  it('names a type that the server lacks, beside the rights, and forgets it when the server has it', async () => {
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
    // Who may not ask does without.
    stub.odd({ plural: 'types' }, { status: 403 });
    stub.forgetRequests();
    await until(
      () => stub.requests.filter(({ plural }) => plural === 'types'),
      (all) => all.length > 3,
    );
    expect(health.state).toEqual({ state: 'ok' });
  });

  it('asks for every rule in every namespace at once when it begins', async () => {
    namespaces = [NAMESPACE, 'models-acme'];
    // One question after the other would take 48 of the longest pauses.
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

  it('says since when a server does not answer, refuses us or is not there, and is well again soon after', async () => {
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

  it('does not wait for its turn when another call was forbidden', async () => {
    // Its turn would come after 11 of the longest pauses, 44 s.
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

  it('asks seldom when nothing happens, however many namespaces there are', async () => {
    namespaces = Array.from({ length: 40 }, (_, number) => `models-${number}`);
    health = watch({ roundMs: 200 });
    health.start();
    await until(asked, (all) => all.length >= rules.length * 40, 30_000);
    // The last of the questions that follow each other without a pause may still come.
    await until(asked, (all) => all.length >= rules.length * 40 + 3);
    stub.forgetRequests();
    const startedAt = performance.now();
    const seen = await until(asked, (all) => all.length >= 7);
    expect(seen.length).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / (PAUSE_MS - EARLY_MS));
  });

  it('names no more than people read', async () => {
    for (const plural of new Set(rules.map(({ resource }) => resource))) stub.forbid({ plural });
    health.start();
    const message = await until(
      () => health.state.message ?? '',
      (text) => text.includes(`and ${rules.length - 8} more`),
    );
    expect(message.length).toBeLessThan(1_000);
  });
});
