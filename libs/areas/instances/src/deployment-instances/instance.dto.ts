import { ArrayField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

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
  @StringField({ description: 'Why, from a closed list', example: 'gpu_memory' })
  cause: string;

  @StringField({ example: 'it ended with code 1' })
  message: string;

  @StringField({ description: 'What to do about it' })
  remediation: string;

  @IntField({ nullable: true })
  exit_code: number | null;

  @StringField({ nullable: true, example: 'SIGKILL' })
  signal: string | null;

  @IntField({ min: 0, description: 'Starts in a row that ended so' })
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

  @StringField({ enum: SHOWN_STATES, description: '`exited`: it is over, and starts again if it is still wanted' })
  state: ShownState;

  @StringField({ nullable: true, description: 'Why it is in this state, from a closed list' })
  reason: string | null;

  @StringField({ nullable: true, description: 'The same for people' })
  message: string | null;

  @IntField({ min: 0, description: 'Crashes since it was last wanted anew' })
  restarts: number;

  @IntField({ min: 1, description: 'Number of its start' })
  generation: number;

  @StringField({ description: 'Execution target', example: 'local' })
  target: string;

  @StringField({ nullable: true, description: 'Where within the target, such as a node' })
  place: string | null;

  @StringField({
    nullable: true,
    description: 'What somebody else has changed of it at its target, for people; it goes on nevertheless',
  })
  drift: string | null;

  @ArrayField(() => InstanceDeviceDto, { description: 'Accelerators that it has' })
  devices: InstanceDeviceDto[];

  @IntField({ min: 0, description: 'Requests that gateways have in flight to it, as of their last report' })
  in_flight: number;

  @TimestampField({ nullable: true })
  started_at: string | null;

  @ObjectField(() => InstanceProgressDto, { nullable: true, description: 'Of a start, where the target can tell' })
  progress: InstanceProgressDto | null;

  @ObjectField(() => InstanceFailureDto, {
    nullable: true,
    description: 'Why its last start came to nothing, until one is ready',
  })
  failure: InstanceFailureDto | null;
}

export class InstanceListDto {
  @ArrayField(() => InstanceDto)
  data: InstanceDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
