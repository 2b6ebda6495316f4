import { METRIC_NAMES, STATS } from '@slipway/contracts';
import {
  ArrayField,
  IntField,
  MoneyDto,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';

/** `availability_percent` is judged by minutes, and no metric of the gateways. */
export const JUDGED_METRICS = [...METRIC_NAMES, 'availability_percent'] as const;
export const CAUSES = ['met', 'errors', 'intrinsic', 'load_dependent', 'starting', 'unknown'] as const;

const LOW = 'Lower end of the interval';
const HIGH = 'Upper end of the interval; null if there are too few values to bound it';

export class DiagnosisIntervalDto {
  @NumberField({ description: 'In the unit of the metric' })
  value: number;

  @NumberField({ description: LOW })
  low: number;

  @NumberField({ nullable: true, description: HIGH })
  high: number | null;
}

export class DiagnosisMeasuredDto extends DiagnosisIntervalDto {
  @IntField({ min: 0, description: 'Samples' })
  n: number;
}

export class DiagnosisPointDto extends DiagnosisMeasuredDto {
  @NumberField({ description: 'Requests in flight on the instance, the request itself included' })
  load: number;
}

export class DiagnosisReplicasDto {
  @IntField({ min: 0, description: 'Instances in the window' })
  now: number;

  @IntField({ min: 0, nullable: true, description: 'Fewest instances that meet this SLO at the peak; null if unknown' })
  needed: number | null;

  @NumberField({ nullable: true, description: 'The peak, in requests per second, that `needed` is for' })
  at_rate: number | null;
}

export class SloDiagnosisDto {
  @StringField({ enum: JUDGED_METRICS })
  metric: (typeof JUDGED_METRICS)[number];

  @StringField({ enum: STATS })
  stat: (typeof STATS)[number];

  @NumberField({ description: 'Limit in the unit of the metric' })
  threshold: number;

  @StringField({
    enum: CAUSES,
    description:
      '`intrinsic`: requests that are alone on an instance miss it too, so more replicas cannot help. `load_dependent`: requests at a lower load meet it. `starting`: only requests of instances that have just started miss it',
  })
  cause: (typeof CAUSES)[number];

  @StringField({
    optional: true,
    nullable: true,
    description: 'Why a conclusion or a number is missing, for programs',
    example: 'never_seen',
  })
  because?: string | null;

  @ObjectField(() => DiagnosisMeasuredDto, { nullable: true, description: 'In the window' })
  value: DiagnosisMeasuredDto | null;

  @ObjectField(() => DiagnosisMeasuredDto, {
    nullable: true,
    description: 'Of requests that were nearly alone on an instance; null with too few of them',
  })
  idle: DiagnosisMeasuredDto | null;

  @ObjectField(() => DiagnosisIntervalDto, {
    nullable: true,
    description: 'With `replicas.needed` instances at the peak; null if that load was never seen',
  })
  predicted: DiagnosisIntervalDto | null;

  @ObjectField(() => DiagnosisReplicasDto)
  replicas: DiagnosisReplicasDto;

  @ArrayField(() => DiagnosisPointDto, { description: 'The statistic by load, lowest load first' })
  curve: DiagnosisPointDto[];

  @StringField({ description: 'The conclusion in sentences' })
  message: string;
}

export class DiagnosisWindowDto {
  @TimestampField()
  from: string;

  @TimestampField()
  to: string;
}

export class DiagnosisDecisionDto {
  @StringField({ optional: true, description: 'The plan that the last round wrote' })
  plan_id?: string;

  @StringField({ optional: true, description: 'Why it wrote none, for programs', example: 'cooldown' })
  because?: string;

  @StringField({ description: 'The same for people' })
  message: string;

  @TimestampField({ nullable: true, description: 'When the reason ends, if that is known' })
  until: string | null;

  @TimestampField()
  at: string;
}

export class DeclaredWorkloadDto {
  @NumberField({ optional: true, description: 'Requests per second' })
  request_rate?: number;

  @NumberField({ optional: true, description: 'Concurrent requests' })
  concurrency?: number;

  @NumberField({ optional: true })
  input_tokens_p95?: number;

  @NumberField({ optional: true })
  output_tokens_p95?: number;
}

export class ObservedWorkloadDto {
  @NumberField({ nullable: true, description: 'Peak, in requests per second' })
  request_rate: number | null;

  @NumberField({ nullable: true, description: 'Concurrent requests at the peak' })
  concurrency: number | null;

  @NumberField({ nullable: true })
  input_tokens_p95: number | null;

  @NumberField({ nullable: true })
  output_tokens_p95: number | null;
}

export class DiagnosisWorkloadDto {
  @ObjectField(() => DeclaredWorkloadDto, { description: 'By the policy' })
  declared: DeclaredWorkloadDto;

  @ObjectField(() => ObservedWorkloadDto, { description: 'By the records; null if unknown' })
  observed: ObservedWorkloadDto;

  @ArrayField('string', { description: 'Members that differ by more than 25 percent' })
  moved: string[];
}

export class DiagnosisCostDto {
  @ObjectField(() => MoneyDto, {
    nullable: true,
    description: 'Price of all devices for one hour; null if the configuration of the operator has no price',
  })
  now: MoneyDto | null;

  @IntField({ min: 0, description: 'Devices of its instances' })
  devices: number;
}

export class DiagnosisDto {
  @StringField({ description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @TimestampField()
  at: string;

  @ObjectField(() => DiagnosisWindowDto, {
    nullable: true,
    description: 'The time that is judged; null without records',
  })
  window: DiagnosisWindowDto | null;

  @ObjectField(() => DiagnosisDecisionDto, {
    nullable: true,
    description: 'The decision of the last round of the autopilot; null before the first one',
  })
  decision: DiagnosisDecisionDto | null;

  @ObjectField(() => DiagnosisWorkloadDto)
  workload: DiagnosisWorkloadDto;

  @ArrayField(() => SloDiagnosisDto)
  slos: SloDiagnosisDto[];

  @ObjectField(() => DiagnosisCostDto)
  cost: DiagnosisCostDto;
}
