import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment } from '@slipway/platform-config';
import { parseAllDocuments } from 'yaml';
import { CHART, type Bag } from './chart.js';

const run = promisify(execFile);
const LIMIT_MS = 300_000;
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

/** One object that the chart renders. */
export interface KubeObject extends Bag {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

export interface RenderOptions {
  helm: string;
  release?: string;
  namespace?: string;
  /** Values files; later ones override earlier ones. */
  values?: string[];
  /** Such as `api.replicas=3`. */
  set?: string[];
  /** APIs that the cluster claims to have, such as `monitoring.coreos.com/v1`. */
  apiVersions?: string[];
  kubeVersion?: string;
}

/**
 * Runs helm without a cluster, unless one is given. So the result depends only on the chart and its values.
 * @throws Error with what helm wrote to stderr
 */
export async function runHelm(helm: string, args: string[], kubeconfig = '/dev/null'): Promise<string> {
  const env = childEnvironment({ KUBECONFIG: kubeconfig, HELM_DEBUG: undefined });
  const { stdout } = await run(helm, args, { env, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

/**
 * Returns every object that `helm template` renders, including hooks and tests.
 * @throws Error with the message of helm
 */
export async function renderChart(options: RenderOptions): Promise<KubeObject[]> {
  const { helm, release = 'slipway', namespace = 'slipway', values = [], set = [] } = options;
  const text = await runHelm(helm, [
    ...['template', release, CHART, '--namespace', namespace],
    ...values.flatMap((file) => ['--values', file]),
    ...set.flatMap((one) => ['--set', one]),
    ...(options.apiVersions ?? []).flatMap((one) => ['--api-versions', one]),
    ...(options.kubeVersion === undefined ? [] : ['--kube-version', options.kubeVersion]),
  ]);
  return objectsOf(text);
}

/**
 * Parses YAML as kubectl and Helm do: `off` is not text.
 * @throws Error if the text is not YAML, or contains a key twice
 */
export function objectsOf(text: string): KubeObject[] {
  return [...parseAllDocuments(text, { version: '1.1' })]
    .map((document) => {
      const [problem] = document.errors;
      if (problem) throw problem;
      return document.toJS() as KubeObject | null;
    })
    .filter((object) => object !== null);
}
