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
  @TimestampField({ optional: true, description: '15 minutes before `to` unless given; at most 3 hours before it' })
  from?: string;

  @TimestampField({ optional: true, description: 'Now unless given' })
  to?: string;

  @IntField({
    min: 1,
    max: MAX_RANGE_SECONDS,
    optional: true,
    description: 'Seconds; at most 360 steps. Unless given, as short as makes at most 120',
  })
  step?: number;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Id, number or name of the only revision to tell of. Unless given, the newest ten that had requests',
  })
  revision?: string;
}

export class AttemptCountsDto {
  @IntField({ min: 0, description: 'Answered 2xx or 3xx to the end' })
  ok: number;

  @IntField({ min: 0, description: 'Answered 4xx' })
  client_error: number;

  @IntField({ min: 0, description: 'Answered 5xx, timed out, or cut after the first byte' })
  server_error: number;

  @IntField({ min: 0, description: 'Ended before the first byte of an answer' })
  connect_error: number;

  @IntField({ min: 0, description: 'The client left, which says nothing about the revision' })
  cancelled: number;

  @IntField({
    min: 0,
    description: 'Of those that failed, the ones that no client saw, because a further attempt followed',
  })
  retried: number;
}

export class RateDto {
  @NumberField({ nullable: true, min: 0, max: 1, description: 'A share; null without samples' })
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

  @IntField({ min: 0, description: 'Independent values: of `itl_ms` a stream is one, however many tokens it had' })
  samples: number;
}

export class MetricsPointDto {
  @TimestampField({ description: 'When it begins' })
  at: string;

  @IntField({ min: 1, description: 'How much of its time the records cover so far' })
  seconds: number;

  @ObjectField(() => AttemptCountsDto, { description: 'Attempts, by how they ended' })
  attempts: AttemptCountsDto;

  @NumberField({ min: 0, description: 'Requests as their clients saw them, those that they left not counted' })
  requests_per_s: number;

  @IntField({ min: 0, description: 'Of `ok`, those that were streams' })
  streamed: number;

  @IntField({ min: 0 })
  tokens_in: number;

  @IntField({ min: 0 })
  tokens_out: number;

  @NumberField({ min: 0, description: 'Of all requests together; of each by itself: `output_tokens_per_s`' })
  tokens_out_per_s: number;

  @IntField({
    nullable: true,
    min: 0,
    description: 'Ready instances that a gateway chose among, the most; null: not known',
  })
  instances: number | null;

  @ObjectField(() => RateDto)
  error_rate: RateDto;

  @ObjectField(() => RateDto)
  upstream_fault_rate: RateDto;

  @ObjectField(() => DistributionDto)
  ttft_ms: DistributionDto;

  @ObjectField(() => DistributionDto)
  itl_ms: DistributionDto;

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

  @IntField({ min: 0, description: 'Requests that wait now, because it sleeps' })
  held: number;

  @ObjectField(() => MetricsPointDto, { description: 'The whole time: percentiles of steps cannot be added up' })
  total: MetricsPointDto;

  @ArrayField(() => MetricsPointDto, { description: 'Oldest first; a step in which no request ended is absent' })
  points: MetricsPointDto[];
}

export class DeploymentMetricsDto {
  @StringField({ example: 'chat' })
  deployment: string;

  @TimestampField({ description: 'Where the first step begins: a multiple of `step_seconds`' })
  from: string;

  @TimestampField()
  to: string;

  @IntField({ min: 1 })
  step_seconds: number;

  @TimestampField({
    nullable: true,
    description:
      'Until then the records of all gateways are there; steps that end later still change. Null: no gateway lives, or one has told nothing yet',
  })
  complete_until: string | null;

  @BooleanField({ description: 'Whether further revisions had requests in that time: ask for them by `revision`' })
  has_more: boolean;

  @ArrayField(() => RevisionMetricsDto, { description: 'Newest first' })
  data: RevisionMetricsDto[];
}
