import type { Diagnosis, DiagnosisInput } from '@slipway/diagnosis';
import type { PolicyContent } from '@slipway/ports/policies';

type DeclaredWorkload = DiagnosisInput['declared'];
type PolicyWorkload = NonNullable<PolicyContent['workload']>;

/** Members of a workload, by their names in the API. */
export const WORKLOAD_NAMES = {
  requestRate: 'request_rate',
  concurrency: 'concurrency',
  inputTokensP95: 'input_tokens_p95',
  outputTokensP95: 'output_tokens_p95',
} as const;
export type WorkloadMember = keyof typeof WORKLOAD_NAMES;

interface Lengths {
  p50: number;
  p95: number;
}

/**
 * Lengths of requests and answers, in tokens, that are usual for a kind of use. They stand in for values that the
 * policy does not declare, so that a diagnosis can say that the observed ones are others.
 */
const PROFILES: Record<string, { input: Lengths; output: Lengths }> = {
  chat: { input: { p50: 400, p95: 2_000 }, output: { p50: 200, p95: 700 } },
  rag: { input: { p50: 3_000, p95: 8_000 }, output: { p50: 200, p95: 600 } },
  code: { input: { p50: 1_500, p95: 6_000 }, output: { p50: 150, p95: 1_000 } },
  agent: { input: { p50: 4_000, p95: 20_000 }, output: { p50: 250, p95: 1_200 } },
  batch: { input: { p50: 1_000, p95: 4_000 }, output: { p50: 300, p95: 1_500 } },
  embedding: { input: { p50: 200, p95: 500 }, output: { p50: 0, p95: 0 } },
};
/** How much longer the longest twentieth is than the middle, if no profile is declared. */
const USUAL_SPREAD = 4;

/** Returns what the policy says about the traffic, with the defaults of its profile. */
export function declaredWorkload(workload: PolicyWorkload | undefined): DeclaredWorkload {
  if (!workload) return {};
  const profile = workload.profile === undefined ? undefined : PROFILES[workload.profile];
  const declared: DeclaredWorkload = {
    requestRate: workload.request_rate,
    concurrency: workload.concurrency,
    inputTokensP95: longOf(workload.input_tokens, profile?.input),
    outputTokensP95: longOf(workload.output_tokens, profile?.output),
  };
  return Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined));
}

/** Returns the declared members that the records contradict, by their names in the API. */
export function movedWorkload({ workload }: Diagnosis): string[] {
  return workload.moved.map((member) => WORKLOAD_NAMES[member]);
}

function longOf(declared: Partial<Lengths> | undefined, usual: Lengths | undefined): number | undefined {
  if (declared?.p95 !== undefined) return declared.p95;
  if (declared?.p50 !== undefined)
    return Math.round(declared.p50 * (usual && usual.p50 > 0 ? usual.p95 / usual.p50 : USUAL_SPREAD));
  return usual && usual.p95 > 0 ? usual.p95 : undefined;
}
