import { specsThatFit } from './projects.js';

/** Programs that a part needs. `.ci/nightly` builds or fetches them, once per machine. */
export type Prebuilt = 'kubernetes' | 'llama-server' | 'python' | 'schemathesis' | 'client-generators';

/** One Jest process over these spec files. */
export interface TestStep {
  files: readonly string[];
  /** Only tests whose title contains this text. */
  title?: string;
  env?: Record<string, string>;
}

/** One command; exit status 0 is a pass. */
export interface CommandStep {
  command: readonly string[];
  env?: Record<string, string>;
}

export type Step = TestStep | CommandStep;

export interface Part {
  name: string;
  what: string;
  level: 'nightly' | 'weekly';
  /** A change in one of these folders requires this part before it is complete. CONTRIBUTING lists the folders. */
  folders: readonly string[];
  needs?: readonly Prebuilt[];
  /** Spec files that the merge level leaves to this part, as names with `*` within a name. */
  only?: readonly string[];
  /** Steps in addition to the files of `only`. */
  steps?: readonly Step[];
  /** Variables for the files of `only`. */
  env?: Record<string, string>;
}

const npm = (script: string, ...args: string[]): CommandStep => ({
  command: ['npm', 'run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])],
});

/** In the order in which they run. */
export const PARTS: readonly Part[] = [
  {
    name: 'kubernetes',
    what: 'every test on a real control plane',
    level: 'nightly',
    folders: ['libs/targets/kubernetes', 'tools/kube-testbed'],
    needs: ['kubernetes'],
    only: [
      'apps/api/test/kubernetes/*.e2e.spec.ts',
      'libs/targets/kubernetes/src/**/*.int.spec.ts',
      'tools/kube-testbed/src/control-plane.int.spec.ts',
      'tools/kube-testbed/src/kubelet.int.spec.ts',
      'tools/kube-testbed/src/lws-controller.int.spec.ts',
      'tools/kube-testbed/src/test-bed.int.spec.ts',
    ],
    steps: [
      {
        files: [
          'tools/kube-testbed/src/kube-tests.spec.ts',
          'tools/kube-testbed/src/test-plane.int.spec.ts',
          'tools/test-runner/src/kube.int.spec.ts',
        ],
      },
      {
        files: ['rollouts/canary', 'crashes/crashes', 'crashes/outage', 'instances/drains'].map(
          (name) => `apps/api/test/${name}.e2e.spec.ts`,
        ),
        title: 'in pods',
      },
    ],
  },
  {
    name: 'chart',
    what: 'the chart on a real control plane: installs, upgrades, and the commands of the page about Kubernetes',
    level: 'nightly',
    folders: ['tools/chart', 'deploy/helm', 'deploy/kubernetes', 'docs/guides/kubernetes.md'],
    needs: ['kubernetes'],
    only: ['tools/chart/test/*.int.spec.ts'],
  },
  {
    name: 'llamacpp',
    what: 'deployments and canaries with the server of llama.cpp',
    level: 'nightly',
    folders: [
      'libs/targets/process',
      'libs/gateway',
      'libs/areas/rollouts/src/gates',
      'tools/llamacpp',
      'tools/engines',
    ],
    needs: ['llama-server'],
    only: ['apps/api/test/instances/llamacpp.e2e.spec.ts', 'apps/api/test/instances/llamacpp-canaries.e2e.spec.ts'],
  },
  {
    name: 'canaries',
    what: 'how soon broken candidates are out of traffic',
    level: 'nightly',
    folders: ['libs/areas/rollouts/src/gates', 'libs/dataplane/src/statistics'],
    only: ['apps/api/test/rollouts/canary-times.e2e.spec.ts'],
  },
  {
    name: 'readme',
    what: 'the commands of README (twice) and docs, typed into three shells',
    level: 'nightly',
    folders: ['README.md', 'docs', 'tools/quickstart'],
    needs: ['llama-server'],
    only: ['tools/quickstart/test/pages.e2e.spec.ts'],
  },
  {
    name: 'with-plan',
    what: 'the quickstart with a plan that is approved and executed, in real time, about eight minutes',
    level: 'nightly',
    folders: ['tools/quickstart/src/with-plan', 'libs/areas/autopilot', 'libs/diagnosis', 'tools/inference-sim'],
    only: ['tools/quickstart/test/with-plan.e2e.spec.ts'],
  },
  {
    name: 'console',
    what: 'screenshots, and axe on every page of the console',
    level: 'nightly',
    folders: ['apps/console'],
    only: [
      'apps/api/test/console/console-everyone.e2e.spec.ts',
      'apps/api/test/console/console-screenshots.e2e.spec.ts',
    ],
    env: { SLIPWAY_SCREENSHOTS: '1' },
  },
  {
    name: 'fuzz',
    what: '2,000 requests to every operation of the OpenAPI document',
    level: 'nightly',
    folders: ['libs/platform/http', 'apps/api'],
    steps: [{ files: ['apps/api/test/contract/fuzz.e2e.spec.ts'], env: { SLIPWAY_FUZZ_RUNS: '2000' } }],
  },
  {
    name: 'schemathesis',
    what: 'Schemathesis, with links from answer to request, for three minutes',
    level: 'nightly',
    folders: ['tools/schemathesis'],
    needs: ['schemathesis'],
    only: ['apps/api/test/contract/schemathesis.e2e.spec.ts'],
  },
  {
    name: 'text-fuzz',
    what: 'texts of engines, clients and suppliers that could hold a process, for ten minutes',
    level: 'nightly',
    folders: ['tools/text-fuzz', 'libs/targets/driver', 'libs/gateway/src/answers', 'libs/contracts'],
    steps: [npm('text-fuzz', '--minutes', '10')],
  },
  {
    name: 'generators',
    what: 'generators and releases in a copy of the workspace',
    level: 'nightly',
    folders: ['tools/generators', 'tools/release', 'libs/registry'],
    only: ['tools/generators/test/*.int.spec.ts', 'tools/release/test/release.int.spec.ts'],
  },
  {
    name: 'release',
    what: 'the files of a release, installed on a clean root, and images and chart in a registry',
    level: 'nightly',
    folders: ['tools/release', 'tools/bundle', 'apps/cli', 'tools/quickstart'],
    needs: ['kubernetes', 'python'],
    only: ['tools/release/test/installed.int.spec.ts', 'tools/release/test/registry.int.spec.ts'],
  },
  {
    name: 'python',
    what: 'the Python client: generated, installed, against a stack',
    level: 'nightly',
    folders: ['libs/sdk'],
    needs: ['python'],
    only: ['apps/api/test/clients/sdk-python.e2e.spec.ts', 'libs/sdk/src/python.int.spec.ts'],
  },
  {
    name: 'client-generators',
    what: 'clients of three generators, each with every operation of the OpenAPI document',
    level: 'nightly',
    folders: ['tools/client-generators', 'libs/platform/http/src/openapi'],
    needs: ['python', 'client-generators'],
    only: ['libs/sdk/src/client-generators.int.spec.ts'],
  },
  {
    name: 'observability',
    what: 'alerts that fire and end, and that a running stack has every metric of alerts and dashboards',
    level: 'nightly',
    folders: ['deploy/observability', 'tools/observability'],
    only: ['tools/observability/test/promtool.int.spec.ts', 'apps/api/test/operating/observability.e2e.spec.ts'],
  },
  {
    name: 'isolation',
    what: 'one tenant within its limits and at 50 times them, memory and event loop of the gateway',
    level: 'nightly',
    folders: [
      'libs/platform/bounds',
      'libs/platform/database',
      'libs/platform/http',
      'libs/platform/durable/src/quotas',
      'libs/gateway',
    ],
    only: [
      'apps/api/test/security/isolation.e2e.spec.ts',
      'apps/api/test/security/isolation-patterns.e2e.spec.ts',
      'apps/api/test/gateway/gateway-memory.e2e.spec.ts',
      'libs/gateway/test/event-loop.int.spec.ts',
    ],
    env: { SLIPWAY_TEST_ISOLATION: '1', SLIPWAY_TEST_GATEWAY_MINUTES: '5' },
  },
  {
    name: 'images',
    what: 'the images, built without a container engine, and the services of compose.yaml started from them',
    level: 'nightly',
    folders: ['docker', 'tools/bundle', 'tools/images'],
    only: ['tools/bundle/test/bundle.int.spec.ts', 'tools/images/test/*.int.spec.ts'],
  },
  {
    name: 'upgrade',
    what: 'an upgrade from the last release under load',
    level: 'nightly',
    folders: ['libs/platform/database', 'libs/**/migrations'],
    only: ['apps/api/test/operating/upgrade.e2e.spec.ts'],
    env: { SLIPWAY_TEST_UPGRADE: '1' },
  },
  {
    name: 'sizing',
    what: 'how often the autopilot is right, in simulations with 200 seeds of each case',
    level: 'nightly',
    folders: [
      'libs/diagnosis',
      'libs/areas/autopilot/src/rounds',
      'libs/areas/autopilot/src/learning',
      'libs/dataplane/src/records',
      'tools/autopilot-simulation',
    ],
    steps: [npm('autopilot-simulation')],
  },
  {
    name: 'benchmarks',
    what: 'every benchmark runs',
    level: 'nightly',
    folders: ['tools/bench'],
    steps: [npm('bench', '--smoke')],
  },
  {
    name: 'mutants',
    what: '40 mutants, drawn by a seed',
    level: 'nightly',
    folders: ['tools/mutation', '**/mutants.yaml'],
    steps: [npm('mutation', '--sample', '40')],
  },
  { name: 'all-mutants', what: 'every list of mutants', level: 'weekly', folders: [], steps: [npm('mutation')] },
  {
    name: 'soak',
    what: 'a Kubernetes target for an hour, with cut connections and deleted pods',
    level: 'weekly',
    folders: [],
    needs: ['kubernetes'],
    steps: [npm('kube:soak', '--minutes', '60')],
  },
  {
    name: 'real-sizing',
    what: 'the autopilot in real time, next to the simulation of the same requests, half an hour on an idle machine',
    level: 'weekly',
    folders: [],
    only: ['apps/api/test/autopilot/real-sizing.e2e.spec.ts'],
  },
  {
    name: 'long-fuzz',
    what: '20,000 requests to every operation, about an hour',
    level: 'weekly',
    folders: [],
    steps: [{ files: ['apps/api/test/contract/fuzz.e2e.spec.ts'], env: { SLIPWAY_FUZZ_RUNS: '20000' } }],
  },
  {
    name: 'long-schemathesis',
    what: 'Schemathesis for half an hour',
    level: 'weekly',
    folders: [],
    needs: ['schemathesis'],
    steps: [
      { files: ['apps/api/test/contract/schemathesis.e2e.spec.ts'], env: { SLIPWAY_SCHEMATHESIS_MINUTES: '30' } },
    ],
  },
  {
    name: 'long-text-fuzz',
    what: 'texts that could hold a process, for an hour',
    level: 'weekly',
    folders: [],
    steps: [npm('text-fuzz', '--minutes', '60')],
  },
];

/** Spec files that the merge level leaves to the nightly level, relative to the root. */
export function nightlySpecs(): string[] {
  return specsThatFit(PARTS.flatMap(({ only = [] }) => only));
}

/** Spec files that only this part runs. */
export function specsOf({ only = [] }: Part): string[] {
  return specsThatFit(only);
}

/** @throws Error if there is no such level, or no part of it with one of the names */
export function chooseParts(level: string | undefined, names?: readonly string[]): Part[] {
  const parts = PARTS.filter((part) => part.level === level);
  if (parts.length === 0) throw new Error(`unknown level: ${level}; the levels are nightly and weekly`);
  const unknown = (names ?? []).filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0)
    throw new Error(`unknown part: ${unknown.join(', ')}; the parts are ${parts.map(({ name }) => name).join(', ')}`);
  return names === undefined ? parts : parts.filter(({ name }) => names.includes(name));
}
