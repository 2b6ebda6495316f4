import { afterAll, beforeAll, expect } from '@jest/globals';
import { TestBed } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { Agent, request } from 'undici';
import { deploymentOf, groupOf, readTarget, specOf, WRITER } from '../../test/target-fixture.js';
import { DEPLOYMENTS, pathOf, PDBS, PODS, SECRETS, SERVICES, type KubeKind } from '../api/kinds.js';
import type { KubeObject, PodTemplate } from '../api/objects.js';
import { pdbOf, serviceOf, unitServiceOf } from './revision-objects.js';
import { secretOf } from './unit.js';

const written = readTarget();
let bed: TestBed;
let agent: Agent;

beforeAll(async () => {
  if (!hasKube) return;
  bed = await TestBed.open();
  agent = new Agent({ connect: { ca: bed.access.ca } });
});
afterAll(async () => {
  await agent?.close();
  await bed?.close();
});

/** The server's judgement of an object in a dry run, with every unknown field and every warning. */
async function judged(kind: KubeKind, namespace: string, object: KubeObject): Promise<unknown> {
  const url = `${bed.access.server}${pathOf(kind, namespace)}?dryRun=All&fieldValidation=Strict`;
  const headers = { authorization: `Bearer ${bed.access.token}`, 'content-type': 'application/json' };
  const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(object), dispatcher: agent });
  const { message } = (await answer.body.json()) as { message?: string };
  return { status: answer.statusCode, warning: answer.headers['warning'], message };
}

const TAKEN = { status: 201, warning: undefined, message: undefined };
const podOf = ({ metadata, spec }: PodTemplate, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, name },
  spec,
});

kubeIt('an API server accepts every object unchanged, without a warning', async () => {
  const namespace = await bed.namespace();
  const config = { ...written, namespaces: { default: namespace, by_tenant: {} }, secrets: 'managed' as const };
  for (const engine of ['vllm', 'llama-cpp']) {
    const spec = specOf({
      runtime: { engine, args: {}, env: engine === 'vllm' ? { HF_TOKEN: '$(X) "\n日本' } : {} },
      scaling: { min_replicas: 2, max_replicas: 2 },
      ...(engine === 'llama-cpp' && { resources: { memory_mb: 1_024 } }),
    });
    const objects: [KubeKind, KubeObject | undefined][] = [
      [DEPLOYMENTS, deploymentOf(spec, config, WRITER)],
      [SECRETS, secretOf(spec, config, WRITER)],
      [SERVICES, serviceOf(spec, config, WRITER)],
      [SERVICES, unitServiceOf(spec, { ...config, reach: 'service' }, WRITER)],
      [PDBS, pdbOf(spec, config, WRITER)],
    ];
    for (const [kind, object] of objects)
      expect({ engine, kind: kind.kind, ...((await judged(kind, namespace, object!)) as object) }).toEqual({
        engine,
        kind: kind.kind,
        ...TAKEN,
      });
  }
});

kubeIt('an API server accepts the pods of a group, from any controller', async () => {
  const namespace = await bed.namespace();
  const spec = specOf({ runtime: { engine: 'vllm-multinode', args: {}, env: {} }, resources: {} });
  const { leaderTemplate, workerTemplate } = groupOf(spec, written, WRITER).spec!.leaderWorkerTemplate!;
  for (const template of [leaderTemplate!, workerTemplate!]) {
    const { spec: of, ...unit } = deploymentOf(specOf(), written, WRITER);
    const around = { ...of, selector: { matchLabels: template.metadata!.labels! }, template };
    expect(await judged(DEPLOYMENTS, namespace, { ...unit, metadata: { name: 'any' }, spec: around })).toEqual(TAKEN);
  }
});

kubeIt('the strictest Pod Security accepts a pod if the operator sets what only the operator can know', async () => {
  const namespace = await bed.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  const spec = specOf({ runtime: { engine: 'llama-cpp', args: {}, env: {} }, resources: {} });
  expect(await judged(PODS, namespace, podOf(deploymentOf(spec, written, WRITER).spec!.template!, 'let-in'))).toEqual(
    TAKEN,
  );
  const lax = { ...written.engines['llama-cpp']!, pod: {} };
  const { template } = deploymentOf(spec, { ...written, engines: { 'llama-cpp': lax } }, WRITER).spec!;
  // The two that depend on the image: its user, and the capabilities that it needs.
  const { message } = (await judged(PODS, namespace, podOf(template!, 'refused'))) as { message: string };
  expect(message).toMatch(
    /violates PodSecurity "restricted:latest": unrestricted capabilities .*, runAsNonRoot != true/,
  );
  expect(message).not.toMatch(/seccomp|allowPrivilegeEscalation/);
});
