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
  @IntField({ min: 0, description: 'Number of applied migrations. A process with a newer migration refuses to start' })
  applied: number;

  @StringField({ description: 'Newest applied migration' })
  newest: string;
}

export class SystemDatabaseDto {
  @StringField({ description: 'Version of Postgres', example: '18.4' })
  version: string;

  @TimestampField()
  started_at: string;

  @NumberField({ min: 0, description: 'Duration of the queries for this response' })
  latency_ms: number;
}

export class SystemOutboxDto {
  @IntField({ min: 0, description: 'Due wake-ups that the queue has not received yet' })
  waiting: number;

  @NumberField({ nullable: true, description: 'Waiting time of the oldest due wake-up' })
  oldest_seconds: number | null;
}

export class SystemOperationsDto {
  @IntField({ min: 0, description: 'Operations that a worker can claim' })
  due: number;

  @NumberField({
    nullable: true,
    description: 'Waiting time of the oldest due operation. More than a few seconds means that workers are missing',
  })
  oldest_due_seconds: number | null;

  @IntField({ min: 0, description: 'Operations that a worker is running' })
  running: number;

  @IntField({ min: 0, description: 'Operations that continue by themselves later' })
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
  @StringField({ description: 'Id of one run of the process' })
  id: string;

  @StringField({ example: '0.1.0' })
  version: string;

  @TimestampField()
  started_at: string;

  @TimestampField({ description: 'Time of the last heartbeat; workers send one every 5 seconds' })
  seen_at: string;

  @BooleanField({
    description: 'Whether the last heartbeat is recent. A worker without heartbeats is removed after a few minutes',
  })
  is_alive: boolean;
}

export class SystemGatewayDto {
  @StringField({ description: 'Id of one run of the process' })
  id: string;

  @TimestampField()
  started_at: string;

  @TimestampField({ description: 'Time of the last heartbeat' })
  seen_at: string;

  @BooleanField({ description: 'Whether the last heartbeat is recent. Other gateways are ignored' })
  is_alive: boolean;

  @IntField({ min: 0, description: 'Number of routes that it serves' })
  routes: number;

  @IntField({ min: 0, description: 'Number of routes whose current generation it does not serve yet' })
  routes_behind: number;

  @TimestampField({ nullable: true, description: 'Time up to which its request statistics are stored' })
  statistics_until: string | null;
}

export class SystemRetentionDto {
  @IntField({
    description: 'Minimum for events. They are kept longer while an operation, a subscription or a webhook needs them',
  })
  events: number;

  @IntField({ description: 'Ended operations and their Idempotency-Keys' })
  operations: number;

  @IntField({ description: 'Idempotency-Keys of mutations without an operation' })
  idempotency_keys: number;

  @IntField({ description: 'Tokens that were revoked or have expired' })
  tokens: number;

  @IntField({ description: 'Request statistics, from which metrics and gates are computed' })
  request_statistics: number;

  @IntField({ description: 'Usage per token' })
  request_usage: number;

  @IntField({ description: 'Expired context passports' })
  context_passports: number;
}

export class SystemDto {
  @StringField({ description: 'Version of the api process', example: '0.1.0' })
  version: string;

  @StringField({ description: 'Version of Node.js', example: '20.20.2' })
  node_version: string;

  @TimestampField({ description: 'Start time of the api process' })
  started_at: string;

  @StringField({
    description: 'URL at which clients of models reach the gateways, without `/v1`',
    example: 'http://127.0.0.1:7080',
  })
  gateway_url: string;

  @ObjectField(() => SystemRetentionDto, { description: 'Retention in days. Audit entries are kept forever' })
  retention_days: SystemRetentionDto;

  @ObjectField(() => SystemSchemaDto, {
    nullable: true,
    description: 'Only for the operator tenant, otherwise null. The same applies to the fields below',
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
