import { FAILURE_CODES, OPERATION_STATUSES, STEP_STATUSES, WAITING_FOR } from '@slipway/contracts';
import {
  ActorDto,
  ArrayField,
  BooleanField,
  IntField,
  JsonField,
  ObjectField,
  rawJson,
  reply,
  StringField,
  TimestampField,
  type RawJson,
  type Reply,
} from '@slipway/platform-http';

export class OperationStepDto {
  @StringField({ description: 'Stable name, such as `await_ready` or `soak:2`' })
  name: string;

  @IntField({ min: 0 })
  index: number;

  @StringField({ enum: STEP_STATUSES })
  status: string;

  @TimestampField({ nullable: true })
  started_at: string | null;

  @TimestampField({ nullable: true })
  completed_at: string | null;

  @StringField()
  message: string;

  @JsonField({ nullable: true, description: 'Observations of the step' })
  evidence: Record<string, unknown> | null;
}

export class OperationPauseDto {
  @TimestampField()
  at: string;

  @ObjectField(() => ActorDto)
  by: ActorDto;

  @StringField({ nullable: true })
  reason: string | null;
}

/** The operation record. The store builds it as JSON text in SQL; this class publishes its shape. */
export class OperationDto {
  @StringField({ example: 'op_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField({ example: 'rollout' })
  kind: string;

  @StringField({ enum: OPERATION_STATUSES })
  status: string;

  @IntField({ min: 0, max: 100, description: 'Progress in percent; never decreases before a retry' })
  progress: number;

  @IntField({ min: 0, description: 'Attempts of the current step; 0 = no worker has started it' })
  attempt: number;

  @IntField({ min: 1 })
  max_attempts: number;

  @BooleanField()
  cancel_requested: boolean;

  @StringField({ nullable: true, description: 'Reason given with the request to cancel' })
  cancel_reason: string | null;

  @StringField()
  current_step: string;

  @StringField({ enum: STEP_STATUSES })
  current_step_status: string;

  @StringField({
    enum: FAILURE_CODES,
    optional: true,
    description: 'Present only if the operation failed or was cancelled',
  })
  error_code?: string;

  @StringField()
  message: string;

  @StringField({ example: 'deployment' })
  resource_type: string;

  @StringField()
  resource_name: string;

  @JsonField()
  result: Record<string, unknown>;

  @BooleanField()
  retryable: boolean;

  @ArrayField(() => OperationStepDto)
  steps: OperationStepDto[];

  @ObjectField(() => ActorDto)
  requested_by: ActorDto;

  @StringField({ nullable: true })
  reason: string | null;

  @StringField({ nullable: true, description: 'Id of the operation that superseded this one' })
  superseded_by: string | null;

  @StringField({
    enum: WAITING_FOR,
    nullable: true,
    description:
      'Reason why the operation waits. `approval`, `decision` and `resume` need a person: promote passes the first two, resume ends a pause. Null unless `status` is `waiting`',
  })
  waiting_for: string | null;

  @ObjectField(() => OperationPauseDto, {
    nullable: true,
    description: 'Null unless a person has paused the operation',
  })
  pause: OperationPauseDto | null;

  @StringField({
    enum: ['approval', 'pause'],
    nullable: true,
    description: 'Older form of `waiting_for`: null if it waits for no person',
  })
  awaiting: string | null;

  @TimestampField({
    nullable: true,
    description:
      'Time when the operation continues by itself: the end of a soak, the next check or the next attempt. Null while it runs and after it has ended',
  })
  resume_at: string | null;

  @StringField({ nullable: true, description: 'Idempotency-Key of the request that created the operation' })
  idempotency_key: string | null;

  @StringField({
    nullable: true,
    description: 'X-Request-Id of that request; log lines and the audit log also contain it',
  })
  request_id: string | null;

  @TimestampField()
  created_at: string;

  @TimestampField()
  updated_at: string;

  @TimestampField({ nullable: true })
  completed_at: string | null;
}

export class OperationEnvelopeDto {
  @ObjectField(() => OperationDto)
  operation: OperationDto;

  @BooleanField({
    description: 'false if the Idempotency-Key belongs to an earlier operation, which is returned instead',
  })
  created: boolean;
}

const POLL_SECONDS = '1';

/**
 * The answer of every request that starts a durable operation. It is 202 with the location to poll, or 200 if the key
 * of the request belongs to an earlier operation.
 * @param record the operation's record as JSON text, as `OperationStore.record` returns it
 */
export function operationAnswer(id: string, record: string, created: boolean): Reply<RawJson> {
  const headers = {
    location: `/api/v1/operations/${id}`,
    ...(created ? { 'retry-after': POLL_SECONDS } : { 'idempotency-replayed': 'true' }),
  };
  return reply(created ? 202 : 200, rawJson(`{"operation":${record},"created":${created}}`), headers);
}
