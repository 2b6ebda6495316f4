import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';

export class SystemSchemaDto {
  @IntField({ min: 0, description: 'Migrations that the database has; a process that knows one more refuses to start' })
  applied: number;

  @StringField({ description: 'The newest of them' })
  newest: string;
}

export class SystemDatabaseDto {
  @StringField({ description: 'Of Postgres', example: '18.4' })
  version: string;

  @TimestampField()
  started_at: string;

  @NumberField({ min: 0, description: 'How long the questions behind this answer took' })
  latency_ms: number;
}

export class SystemOutboxDto {
  @IntField({ min: 0, description: 'Wake-ups that are due and that the queue has not got yet' })
  waiting: number;

  @NumberField({ nullable: true, description: 'How long the oldest of them has waited' })
  oldest_seconds: number | null;
}

export class SystemOperationsDto {
  @IntField({ min: 0, description: 'That a worker may take' })
  due: number;

  @NumberField({
    nullable: true,
    description: 'How long the oldest of them has waited: more than seconds means that workers are missing',
  })
  oldest_due_seconds: number | null;

  @IntField({ min: 0, description: 'That a worker holds' })
  running: number;

  @IntField({ min: 0, description: 'That go on by themselves later' })
  asleep: number;
}

export class SystemQueueDto {
  @StringField({ enum: ['postgres', 'redis'] })
  backend: string;

  @ObjectField(() => SystemOutboxDto)
  outbox: SystemOutboxDto;

  @ObjectField(() => SystemOperationsDto)
  operations: SystemOperationsDto;
}

export class SystemWorkerDto {
  @StringField({ description: 'One run of the process' })
  id: string;

  @StringField({ example: '0.1.0' })
  version: string;

  @TimestampField()
  started_at: string;

  @TimestampField({ description: 'Its last heartbeat; there is one every 5 seconds' })
  seen_at: string;

  @BooleanField({ description: 'Whether it was heard of lately; one that was not is forgotten after minutes' })
  is_alive: boolean;
}

export class SystemGatewayDto {
  @StringField({ description: 'One run of the process' })
  id: string;

  @TimestampField()
  started_at: string;

  @TimestampField({ description: 'Its last heartbeat' })
  seen_at: string;

  @BooleanField({ description: 'Whether it was heard of lately: one that is not counts for nothing' })
  is_alive: boolean;

  @IntField({ min: 0, description: 'Routes that it serves' })
  routes: number;

  @IntField({ min: 0, description: 'Routes whose present generation it does not serve yet' })
  routes_behind: number;

  @TimestampField({ nullable: true, description: 'Until then its request statistics are stored' })
  statistics_until: string | null;
}

export class SystemRetentionDto {
  @IntField({
    description: 'Events at least: longer, where a kept operation, a subscription or a webhook still needs them',
  })
  events: number;

  @IntField({ description: 'Ended operations, and their Idempotency-Keys with them' })
  operations: number;

  @IntField({ description: 'Idempotency-Keys of mutations without an operation' })
  idempotency_keys: number;

  @IntField({ description: 'What metrics and gates are made of' })
  request_statistics: number;

  @IntField({ description: 'Usage by token' })
  request_usage: number;

  @IntField({ description: 'Context passports after they have expired' })
  context_passports: number;
}

export class SystemDto {
  @StringField({ description: 'Of the api that answers', example: '0.1.0' })
  version: string;

  @StringField({ description: 'Of Node, which it runs on', example: '20.20.2' })
  node_version: string;

  @TimestampField({ description: 'When it started' })
  started_at: string;

  @ObjectField(() => SystemRetentionDto, { description: 'Days. The audit is kept for ever' })
  retention_days: SystemRetentionDto;

  @ObjectField(() => SystemSchemaDto, {
    nullable: true,
    description: 'Null but for the operator tenant, as what follows',
  })
  schema: SystemSchemaDto | null;

  @ObjectField(() => SystemDatabaseDto, { nullable: true })
  database: SystemDatabaseDto | null;

  @ObjectField(() => SystemQueueDto, { nullable: true })
  queue: SystemQueueDto | null;

  @ArrayField(() => SystemWorkerDto, { nullable: true, description: 'Oldest first' })
  workers: SystemWorkerDto[] | null;

  @ArrayField(() => SystemGatewayDto, { nullable: true, description: 'Oldest first' })
  gateways: SystemGatewayDto[] | null;
}
