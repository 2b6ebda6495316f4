import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import { MAX_RANGE_SECONDS } from './metrics-range.js';

export class MetricsQueryDto {
  @TimestampField({
    optional: true,
    description: 'Start of the range, at most 3 hours before `to`. Default: 15 minutes before `to`',
  })
  from?: string;

  @TimestampField({ optional: true, description: 'End of the range. Default: now' })
  to?: string;

  @IntField({
    min: 1,
    max: MAX_RANGE_SECONDS,
    optional: true,
    description:
      'Length of a step in seconds; the range has at most 360 steps. Default: the shortest common length that results in at most 120 steps',
  })
  step?: number;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Id, number or name of the only revision to return. Default: the newest ten that had requests',
  })
  revision?: string;
}

export class AttemptCountsDto {
  @IntField({ min: 0, description: 'Completed with a valid response' })
  ok: number;

  @IntField({ min: 0, description: 'Refused by the model server with another 4xx response than those of `overloaded`' })
  client_error: number;

  @IntField({ min: 0, description: 'Answered 408, 425 or 429 by the model server' })
  overloaded: number;

  @IntField({
    min: 0,
    description:
      'Failed with a 5xx or 3xx response, with a refused credential or model name, by a timeout, after the first byte of the response, or with a response that is no valid answer',
  })
  server_error: number;

  @IntField({ min: 0, description: 'Failed before the first byte of a response' })
  connect_error: number;

  @IntField({
    min: 0,
    description:
      'Left by the client after at least 2 s without a first byte of the response, or without its end if it is not streamed',
  })
  abandoned: number;

  @IntField({
    min: 0,
    description: 'Cancelled by the client earlier, or after content, which is no evidence about the revision',
  })
  cancelled: number;

  @IntField({ min: 0, description: 'Failed attempts that no client saw, because a retry followed' })
  retried: number;

  @IntField({ min: 0, description: 'Attempts in `overloaded` that no client saw, because a retry followed' })
  overloaded_retried: number;
}

export class RateDto {
  @NumberField({ nullable: true, min: 0, max: 1, description: 'Share from 0 to 1; null without samples' })
  rate: number | null;

  @IntField({ min: 0 })
  samples: number;
}

export class DistributionDto {
  @NumberField({ nullable: true })
  avg: number | null;

  @NumberField({ nullable: true })
  p50: number | null;

  @NumberField({ nullable: true })
  p90: number | null;

  @NumberField({ nullable: true })
  p95: number | null;

  @NumberField({ nullable: true })
  p99: number | null;

  @IntField({ min: 0, description: 'Number of values, one for each attempt' })
  samples: number;
}

export class MetricsPointDto {
  @TimestampField({ description: 'Start of the step' })
  at: string;

  @IntField({ min: 1, description: 'Seconds of the step that the records cover so far' })
  seconds: number;

  @ObjectField(() => AttemptCountsDto, { description: 'Number of attempts by outcome' })
  attempts: AttemptCountsDto;

  @NumberField({ min: 0, description: 'Requests per second as clients saw them, without those that clients cancelled' })
  requests_per_s: number;

  @IntField({ min: 0, description: 'Number of streams among `ok`' })
  streamed: number;

  @IntField({ min: 0 })
  tokens_in: number;

  @IntField({ min: 0 })
  tokens_out: number;

  @NumberField({
    min: 0,
    description:
      'Output tokens per second of all requests together. `output_tokens_per_s` is the rate of single requests.',
  })
  tokens_out_per_s: number;

  @IntField({
    nullable: true,
    min: 0,
    description: 'Largest number of ready instances that a gateway could choose from; null if unknown',
  })
  instances: number | null;

  @ObjectField(() => RateDto)
  error_rate: RateDto;

  @ObjectField(() => RateDto)
  client_error_rate: RateDto;

  @ObjectField(() => RateDto)
  overloaded_rate: RateDto;

  @ObjectField(() => RateDto)
  abandoned_rate: RateDto;

  @ObjectField(() => RateDto)
  upstream_fault_rate: RateDto;

  @ObjectField(() => DistributionDto)
  ttft_ms: DistributionDto;

  @ObjectField(() => DistributionDto)
  itl_ms: DistributionDto;

  @ObjectField(() => DistributionDto)
  longest_gap_ms: DistributionDto;

  @ObjectField(() => DistributionDto)
  e2e_latency_ms: DistributionDto;

  @ObjectField(() => DistributionDto)
  output_tokens_per_s: DistributionDto;
}

export class RevisionMetricsDto {
  @StringField({ example: 'chat-00007' })
  revision: string;

  @IntField({ min: 0, description: 'Requests in flight now' })
  in_flight: number;

  @IntField({ min: 0, description: 'Requests that wait now, because the revision is scaled to zero' })
  held: number;

  @ObjectField(() => MetricsPointDto, {
    description: 'The whole range as one step, because percentiles of steps cannot be added up',
  })
  total: MetricsPointDto;

  @ArrayField(() => MetricsPointDto, {
    description: 'Steps, oldest first. Steps in which no request ended are omitted.',
  })
  points: MetricsPointDto[];
}

export class DeploymentMetricsDto {
  @StringField({ example: 'chat' })
  deployment: string;

  @TimestampField({ description: 'Start of the first step, a multiple of `step_seconds`' })
  from: string;

  @TimestampField()
  to: string;

  @IntField({ min: 1 })
  step_seconds: number;

  @TimestampField({
    nullable: true,
    description:
      'Time until which all gateways have reported. Steps that end later can still change. Null if no gateway is running or one has not reported yet.',
  })
  complete_until: string | null;

  @BooleanField({ description: 'Whether more revisions had requests in the range. Request them with `revision`.' })
  has_more: boolean;

  @ArrayField(() => RevisionMetricsDto, { description: 'Revisions, newest first' })
  data: RevisionMetricsDto[];
}
