import { ArrayField, BooleanField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

export const SHOWN_STATES = [
  'pending',
  'waiting_for_device',
  'waiting_for_place',
  'starting',
  'ready',
  'unhealthy',
  'stopping',
  'exited',
] as const;
export type ShownState = (typeof SHOWN_STATES)[number];

export class InstanceDeviceDto {
  @IntField({ min: 0 })
  index: number;

  @StringField()
  name: string;

  @StringField()
  uuid: string;
}

export class InstanceFailureDto {
  @StringField({ description: 'Cause, from a closed list', example: 'gpu_memory' })
  cause: string;

  @StringField({ example: 'it ended with code 1' })
  message: string;

  @StringField({ description: 'Next step to fix the failure' })
  remediation: string;

  @IntField({ nullable: true })
  exit_code: number | null;

  @StringField({ nullable: true, example: 'SIGKILL' })
  signal: string | null;

  @IntField({ min: 0, description: 'Number of consecutive starts that failed in this way' })
  starts: number;
}

export class InstanceProgressDto {
  @StringField({ enum: ['downloading', 'loading'] })
  phase: string;

  @IntField({ nullable: true })
  bytes: number | null;

  @IntField({ nullable: true })
  total_bytes: number | null;
}

export class InstanceDto {
  @StringField({ example: 'ins_1' })
  id: string;

  @StringField({ example: 'chat-00007' })
  revision: string;

  @IntField({ min: 0, description: 'Number within the revision, from 0' })
  ordinal: number;

  @StringField({ enum: SHOWN_STATES, description: '`exited`: it has ended, and starts again if it is still needed' })
  state: ShownState;

  @BooleanField({
    description:
      'Whether gateways send it requests of the deployment: it is ready, and the route gives its revision a share',
  })
  is_serving: boolean;

  @StringField({ nullable: true, description: 'Reason for the state, from a closed list' })
  reason: string | null;

  @StringField({ nullable: true, description: 'Explanation of the reason' })
  message: string | null;

  @IntField({ min: 0, description: 'Number of crashes since the instance was last requested' })
  restarts: number;

  @IntField({ min: 1, description: 'Sequence number of the start' })
  generation: number;

  @StringField({ description: 'Execution target', example: 'local' })
  target: string;

  @StringField({ nullable: true, description: 'Location within the target, such as a node' })
  place: string | null;

  @StringField({
    nullable: true,
    description:
      'Description of a change that was made to it on its target from outside Slipway. The instance keeps running.',
  })
  drift: string | null;

  @ArrayField(() => InstanceDeviceDto, { description: 'Accelerators that the instance uses' })
  devices: InstanceDeviceDto[];

  @IntField({ min: 0, description: 'Requests in flight, according to the last report of each gateway' })
  in_flight: number;

  @TimestampField({ nullable: true })
  started_at: string | null;

  @ObjectField(() => InstanceProgressDto, {
    nullable: true,
    description: 'Progress of the start, if the target reports it',
  })
  progress: InstanceProgressDto | null;

  @ObjectField(() => InstanceFailureDto, {
    nullable: true,
    description: 'Failure of the last start; null once a start is ready',
  })
  failure: InstanceFailureDto | null;
}

export class InstanceFilterDto {
  @StringField({ min: 1, max: 255, optional: true, description: 'Id, number or name of the revision' })
  revision?: string;

  @StringField({ enum: SHOWN_STATES, optional: true, description: 'Only instances in this state' })
  state?: ShownState;
}

export class InstanceListDto {
  @ArrayField(() => InstanceDto)
  data: InstanceDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
