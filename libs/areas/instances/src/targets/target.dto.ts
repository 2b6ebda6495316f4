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
    description: '`string` also accepts a number or true/false; `json` is the text of a JSON object or list',
  })
  type: EngineArg['type'];

  @NumberField({ optional: true, description: 'Smallest allowed number, inclusive' })
  min?: number;

  @NumberField({ optional: true, description: 'Largest allowed number, inclusive' })
  max?: number;

  @StringField({
    optional: true,
    description: 'Name of another argument. The value must be at least as large as the value of that argument.',
  })
  at_least?: string;

  @JsonField({ any: true, optional: true, description: 'Value if a revision does not set the argument', example: 8192 })
  default?: ArgValue;

  @JsonField({ any: true, optional: true, description: 'List of allowed values', example: ['f16', 'q8_0'] })
  choices?: ArgValue[];

  @JsonField({ any: true, optional: true, description: 'List of values worth trying', example: [4096, 8192] })
  tune?: ArgValue[];

  @BooleanField({ optional: true, description: 'True if the argument may change the quality of responses' })
  quality?: true;

  @StringField({
    optional: true,
    description: 'Purpose of the argument, or the trade-off that it controls',
    example: 'throughput against ITL',
  })
  reason?: string;
}

export class TargetEngineDto {
  @StringField({ description: 'Name for `runtime.engine` of a revision', example: 'sim' })
  name: string;

  @ArrayField('string', { description: 'Names that `runtime.args` may set', example: ['ttft_ms'] })
  args: string[];

  @ArrayField('string', { description: 'Names that `runtime.env` may set' })
  env: string[];

  @ArrayField(() => EngineArgDto, { optional: true, description: 'Declarations of these arguments' })
  declared?: EngineArgDto[];

  @StringField({ optional: true, example: 'llamacpp@1', description: 'Built-in template that the engine extends' })
  template?: string;
}

export class TargetCapacityDto {
  @IntField({ nullable: true, description: 'Largest number of instances that the target runs; null means no limit' })
  max_instances: number | null;

  @IntField({ description: 'Number of instances that all tenants together need on the target now' })
  in_use: number;

  @IntField({
    nullable: true,
    description:
      'Largest number of instances that your tenant may use of a target that tenants share; null means no limit of its own',
  })
  share: number | null;
}

export class TargetDeviceHolderDto {
  @StringField({
    nullable: true,
    description: 'Revision that uses the device; null if it belongs to another tenant',
    example: 'chat-00003',
  })
  revision: string | null;

  @IntField({ nullable: true, description: 'MiB that it uses of a shared device; null means the entire device' })
  memory_mb: number | null;

  @BooleanField({ description: 'Whether it has ended and only its memory is not free yet' })
  ending: boolean;
}

export class TargetDeviceDto {
  @IntField({ description: 'Index by PCI bus; may change after a reboot' })
  index: number;

  @StringField({ description: 'Stable across reboots', example: 'GPU-5c89852c-1d5c-4d26-a2f1-2a3f9a5d8f4e' })
  uuid: string;

  @StringField({ example: 'NVIDIA L4' })
  name: string;

  @IntField({ nullable: true, description: 'Memory in MiB; null if the host does not report it' })
  memory_mb: number | null;

  @IntField({ nullable: true, description: 'MiB in use at the last check' })
  used_mb: number | null;

  @IntField({ description: 'MiB of it in use by programs that Slipway did not start' })
  foreign_mb: number;

  @StringField({
    nullable: true,
    description:
      'Reason why nothing starts on the device: its driver lost it, or the memory of its last user is still not free',
  })
  problem: string | null;

  @ArrayField(() => TargetDeviceHolderDto, { description: 'Users of the device; empty if it is free' })
  holders: TargetDeviceHolderDto[];
}

export class TargetConditionDto {
  @StringField({
    enum: ['devices_unknown', 'degraded', 'unknown_units', 'not_configured'],
    description:
      'Kind of problem. `unknown_units`: units of this installation that belong to no target and no instance still exist; see `unknown_units`. `not_configured`: instances need a target that the configuration no longer names. `degraded`: instances may fail to start, to stop or to be checked there; running instances keep running.',
  })
  type: 'devices_unknown' | 'degraded' | 'unknown_units' | 'not_configured';

  @StringField({ description: 'Description of the problem' })
  message: string;
}

export class UnknownUnitsDto {
  @StringField({ description: 'Name of the target that made them', example: 'gpu-old' })
  target: string;

  @StringField({ description: 'Where they are', example: 'namespace models' })
  location: string;

  @IntField({ description: 'Number of units' })
  count: number;

  @IntField({ description: 'Number of units that run' })
  running: number;

  @ArrayField('string', { description: 'Names of the first units' })
  names: string[];

  @StringField({ description: 'Command that removes them' })
  command: string;
}

export class TargetDto {
  @StringField({ description: 'Name for `runtime.target` of a revision', example: 'local' })
  name: string;

  @StringField({
    example: 'process',
    description:
      '`process` starts engines on its host, `kubernetes` in a cluster, `endpoint` adopts servers that already run',
  })
  kind: string;

  @ArrayField(() => TargetEngineDto, {
    description: 'Engines of the target; empty if it adopts servers that already run',
  })
  engines: TargetEngineDto[];

  @ObjectField(() => TargetCapacityDto)
  capacity: TargetCapacityDto;

  @ArrayField(() => TargetDeviceDto, { description: 'Accelerators of its host at the last check by the worker' })
  devices: TargetDeviceDto[];

  @StringField({ enum: ['ok', 'degraded'], description: '`ok` if the target has no conditions' })
  status: 'ok' | 'degraded';

  @ArrayField(() => TargetConditionDto, { description: 'Problems of the target; empty if there are none' })
  conditions: TargetConditionDto[];

  @ArrayField(() => UnknownUnitsDto, {
    description:
      'Units of this installation that the driver of the target found and that belong to no target and no instance, at most 20 groups; only visible to the operator tenant. Slipway does not remove them.',
  })
  unknown_units: UnknownUnitsDto[];

  @BooleanField({
    description:
      "Whether the target was removed from the operator's configuration. It is listed while instances are needed on it: running instances keep running, and no new ones start.",
  })
  removed: boolean;
}

export class OperatorConfigurationDto {
  @StringField({
    nullable: true,
    description:
      'SHA-256 of the configuration file that this api process uses, in hex; null if it uses only built-in defaults',
  })
  digest: string | null;

  @TimestampField({ description: 'Time at which this process loaded the file' })
  loaded_at: string;

  @BooleanField({
    description:
      'Whether the current file is in use. If false, the file is invalid or missing, and the previous configuration stays in use.',
  })
  current: boolean;

  @ArrayField('string', {
    description: 'Problems of the current file, by key path; only visible to the operator tenant',
  })
  problems: string[];
}

export class TargetListDto {
  @ArrayField(() => TargetDto)
  data: TargetDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;

  @ObjectField(() => OperatorConfigurationDto, { description: 'Configuration in use, to compare api replicas' })
  configuration: OperatorConfigurationDto;
}
