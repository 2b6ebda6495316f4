import type { ArgValue, EngineArg } from '@slipway/contracts';
import {
  ArrayField,
  BooleanField,
  IntField,
  JsonField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';

/** An argument of an engine, as the operator or a built-in template declares it. */
export class EngineArgDto implements EngineArg {
  @StringField({ description: 'Key of `runtime.args`', example: 'ctx_size' })
  name: string;

  @StringField({
    enum: ['string', 'integer', 'number', 'boolean', 'choice', 'json'],
    description: '`string` takes a number or true/false as well; `json` is the text of a JSON object or list',
  })
  type: EngineArg['type'];

  @NumberField({ optional: true, description: 'Of a number, inclusive' })
  min?: number;

  @NumberField({ optional: true, description: 'Of a number, inclusive' })
  max?: number;

  @StringField({ optional: true, description: 'Another argument, whose value it may not be below' })
  at_least?: string;

  @JsonField({ any: true, optional: true, description: 'Passed on where a revision sets nothing', example: 8192 })
  default?: ArgValue;

  @JsonField({ any: true, optional: true, description: 'A list: the values that it takes', example: ['f16', 'q8_0'] })
  choices?: ArgValue[];

  @JsonField({ any: true, optional: true, description: 'A list: values worth trying', example: [4096, 8192] })
  tune?: ArgValue[];

  @BooleanField({ optional: true, description: 'It may change what the engine answers' })
  quality?: true;

  @StringField({ optional: true, description: 'What it is a choice between', example: 'throughput against ITL' })
  reason?: string;
}

export class TargetEngineDto {
  @StringField({ description: 'What `runtime.engine` of a revision may name', example: 'sim' })
  name: string;

  @ArrayField('string', { description: 'What `runtime.args` may set', example: ['ttft_ms'] })
  args: string[];

  @ArrayField('string', { description: 'What `runtime.env` may set' })
  env: string[];

  @ArrayField(() => EngineArgDto, { optional: true, description: 'The same arguments as they are declared' })
  declared?: EngineArgDto[];

  @StringField({ optional: true, example: 'llamacpp@1', description: 'The built-in template that it extends' })
  template?: string;
}

export class TargetCapacityDto {
  @IntField({ nullable: true, description: 'Instances it runs at most; null = no limit' })
  max_instances: number | null;

  @IntField({ description: 'Instances that are wanted on it now, over all tenants' })
  in_use: number;
}

export class TargetDeviceHolderDto {
  @StringField({
    nullable: true,
    description: 'Revision that it runs for; null for one of another tenant',
    example: 'chat-00003',
  })
  revision: string | null;

  @IntField({ nullable: true, description: 'MiB that it takes beside others; null = all of the device' })
  memory_mb: number | null;

  @BooleanField({ description: 'Whether it is over, and only its memory has not been seen to be back' })
  ending: boolean;
}

export class TargetDeviceDto {
  @IntField({ description: 'By PCI bus; may change at a reboot' })
  index: number;

  @StringField({ description: 'Stable over reboots', example: 'GPU-5c89852c-1d5c-4d26-a2f1-2a3f9a5d8f4e' })
  uuid: string;

  @StringField({ example: 'NVIDIA L4' })
  name: string;

  @IntField({ nullable: true, description: 'MiB; null where the host does not tell' })
  memory_mb: number | null;

  @IntField({ nullable: true, description: 'MiB in use when it was looked at last' })
  used_mb: number | null;

  @IntField({ description: 'MiB of it that programs hold which Slipway has not started' })
  foreign_mb: number;

  @StringField({
    nullable: true,
    description: 'Why nothing is started on it: its driver lost it, or the memory of its last holder has not come back',
  })
  problem: string | null;

  @ArrayField(() => TargetDeviceHolderDto, { description: 'Who has it; empty = it is free' })
  holders: TargetDeviceHolderDto[];
}

export class TargetConditionDto {
  @StringField({
    enum: ['devices_unknown', 'degraded'],
    description:
      'What is wrong with the target; `degraded`: nothing can be started, stopped or seen there as it should, while what runs goes on',
  })
  type: 'devices_unknown' | 'degraded';

  @StringField({ description: 'In words' })
  message: string;
}

export class TargetDto {
  @StringField({ description: 'What `runtime.target` of a revision names', example: 'local' })
  name: string;

  @StringField({
    example: 'process',
    description:
      '`process` starts engines on its host, `kubernetes` in a cluster, `endpoint` adopts servers that already run',
  })
  kind: string;

  @ArrayField(() => TargetEngineDto, { description: 'Empty for targets that adopt what already runs' })
  engines: TargetEngineDto[];

  @ObjectField(() => TargetCapacityDto)
  capacity: TargetCapacityDto;

  @ArrayField(() => TargetDeviceDto, { description: 'Accelerators of its host, as the worker saw them last' })
  devices: TargetDeviceDto[];

  @StringField({ enum: ['ok', 'degraded'], description: '`ok` while it has no conditions' })
  status: 'ok' | 'degraded';

  @ArrayField(() => TargetConditionDto, { description: 'Empty while nothing is wrong' })
  conditions: TargetConditionDto[];

  @BooleanField({
    description:
      "Whether the operator's configuration names it no more. It is listed while something is wanted on it; what runs goes on, nothing new starts",
  })
  removed: boolean;
}

export class OperatorConfigurationDto {
  @StringField({
    nullable: true,
    description: 'SHA-256 of the file that holds in this api process, in hex; null where only what is built in holds',
  })
  digest: string | null;

  @TimestampField({ description: 'When this process took it' })
  loaded_at: string;

  @BooleanField({
    description: 'Whether the file as it is now holds. False: it is faulty or gone, and what it said before goes on',
  })
  current: boolean;

  @ArrayField('string', {
    description: 'What is wrong with the file as it is now, by key path; told to the operator tenant alone',
  })
  problems: string[];
}

export class TargetListDto {
  @ArrayField(() => TargetDto)
  data: TargetDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;

  @ObjectField(() => OperatorConfigurationDto, { description: 'For comparing replicas' })
  configuration: OperatorConfigurationDto;
}
