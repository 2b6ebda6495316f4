import type { Diagnosis, GoalDiagnosis, Interval, MeasuredValue } from '@slipway/diagnosis';
import type { PolicyContent } from '@slipway/ports/policies';
import { standing } from '../rounds/availability.js';
import type { AvailabilityResult } from '../rounds/situation.js';
import { declaredWorkload, movedWorkload, WORKLOAD_NAMES, type WorkloadMember } from '../rounds/workload.js';
import type {
  DiagnosisIntervalDto,
  DiagnosisMeasuredDto,
  DiagnosisWorkloadDto,
  SloDiagnosisDto,
} from './diagnosis.dto.js';
import { exact } from '../rounds/texts.js';

/* A diagnosis in the names of the API. */

export function workloadAnswer(policy: PolicyContent, diagnosis: Diagnosis | undefined): DiagnosisWorkloadDto {
  const observed = diagnosis?.workload.observed;
  return {
    declared: named(declaredWorkload(policy.workload)),
    observed: {
      request_rate: rounded(observed?.requestRate),
      concurrency: rounded(observed?.concurrency),
      input_tokens_p95: rounded(observed?.inputTokensP95),
      output_tokens_p95: rounded(observed?.outputTokensP95),
    },
    moved: diagnosis ? movedWorkload(diagnosis) : [],
  };
}

function named(declared: Partial<Record<WorkloadMember, number>>): DiagnosisWorkloadDto['declared'] {
  return Object.fromEntries(
    Object.entries(declared).map(([member, value]) => [WORKLOAD_NAMES[member as WorkloadMember], value]),
  );
}

export function sloAnswer({ goal, cause, because, value, idle, predicted, replicas, curve, message }: GoalDiagnosis) {
  return {
    ...goal,
    cause,
    because: because ?? null,
    value: measuredAnswer(value),
    idle: measuredAnswer(idle),
    predicted: predicted && intervalAnswer(predicted),
    replicas: { now: replicas.now, needed: replicas.needed, at_rate: rounded(replicas.atRate) },
    curve: curve.map(({ load, ...point }) => ({
      load: exact(load),
      ...(measuredAnswer(point) as DiagnosisMeasuredDto),
    })),
    message,
  } satisfies SloDiagnosisDto;
}

/** Availability depends on no load, so it has no curve and no number of replicas at a peak. */
export function availabilityAnswer(result: AvailabilityResult, replicas: number): SloDiagnosisDto {
  const { threshold, value, verdict, minutes } = result;
  return {
    metric: 'availability_percent',
    stat: 'rate',
    threshold,
    cause: verdict === 'met' ? 'met' : 'unknown',
    because: verdict === 'thin' ? (minutes === 0 ? 'samples' : 'confidence') : null,
    value: measuredAnswer(value),
    idle: null,
    predicted: null,
    replicas: { now: replicas, needed: null, at_rate: null },
    curve: [],
    message: standing(result),
  };
}

function measuredAnswer(measured: MeasuredValue | null): DiagnosisMeasuredDto | null {
  return measured && { ...intervalAnswer(measured), n: measured.n };
}

/** JSON knows no infinity. */
function intervalAnswer({ value, low, high }: Interval): DiagnosisIntervalDto {
  return { value: exact(value), low: exact(low), high: Number.isFinite(high) ? exact(high) : null };
}

function rounded(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : exact(value);
}
