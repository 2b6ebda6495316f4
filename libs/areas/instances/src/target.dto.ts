import { ArrayField, IntField, ObjectField, StringField } from '@slipway/platform-http';

export class TargetEngineDto {
  @StringField({ description: 'What `runtime.engine` of a revision may name', example: 'sim' })
  name: string;

  @ArrayField('string', { description: 'What `runtime.args` may set', example: ['ttft_ms'] })
  args: string[];

  @ArrayField('string', { description: 'What `runtime.env` may set' })
  env: string[];
}

export class TargetCapacityDto {
  @IntField({ nullable: true, description: 'Instances it runs at most; null = no limit' })
  max_instances: number | null;

  @IntField({ description: 'Instances that are wanted on it now, over all tenants' })
  in_use: number;
}

export class TargetDto {
  @StringField({ description: 'What `runtime.target` of a revision names', example: 'local' })
  name: string;

  @StringField({
    example: 'process',
    description: '`process` starts engines, `endpoint` adopts servers that already run',
  })
  kind: string;

  @ArrayField(() => TargetEngineDto, { description: 'Empty for targets that adopt what already runs' })
  engines: TargetEngineDto[];

  @ObjectField(() => TargetCapacityDto)
  capacity: TargetCapacityDto;
}

export class TargetListDto {
  @ArrayField(() => TargetDto)
  data: TargetDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
