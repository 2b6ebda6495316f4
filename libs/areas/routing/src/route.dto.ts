import {
  ActorDto,
  ArrayField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
  type FieldIssue,
} from '@slipway/platform-http';

export class RouteTargetDto {
  @StringField({
    min: 1,
    max: 255,
    description: 'Id, number or name of a revision of this deployment; answers show its name',
    example: 'chat-00002',
  })
  revision: string;

  @IntField({ min: 0, max: 100, description: 'Percent of the requests; 0 = dark' })
  weight: number;
}

export class RouteAffinityDto {
  @StringField({
    enum: ['none', 'soft'],
    default: 'soft',
    description: '`soft`: a session stays on its revision and, where it can, on its instance',
  })
  mode: 'none' | 'soft';

  @IntField({ min: 1, max: 86_400, default: 600 })
  ttl_seconds: number;
}

export class SetRouteDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Gives this revision all traffic, keeping the affinity; or targets',
  })
  revision?: string;

  @ArrayField(() => RouteTargetDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description: 'The whole route; weights sum to 100; or revision',
  })
  targets?: RouteTargetDto[];

  @ObjectField(() => RouteAffinityDto, { optional: true, description: 'With targets, the default where absent' })
  affinity?: RouteAffinityDto;

  @StringField({ max: 2000, optional: true })
  reason?: string;

  static check(route: SetRouteDto): FieldIssue[] {
    if ((route.revision === undefined) !== (route.targets === undefined)) return [];
    return [{ field: 'targets', code: 'exactly_one', message: 'give exactly one of revision and targets' }];
  }
}

export class RouteHoldDto {
  @IntField({ min: 1, max: 290, description: 'The longest that one request waits; then it answers 503' })
  max_seconds: number;

  @NumberField({
    min: 0,
    nullable: true,
    description: 'How long it is expected to last; null where nothing was measured',
  })
  estimated_seconds: number | null;

  @TimestampField()
  since: string;
}

export class RouteDto {
  @StringField({ description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @IntField({ min: 1, description: 'Rises by one at every change' })
  generation: number;

  @ArrayField(() => RouteTargetDto)
  targets: RouteTargetDto[];

  @ObjectField(() => RouteAffinityDto)
  affinity: RouteAffinityDto;

  @ObjectField(() => RouteHoldDto, {
    nullable: true,
    description:
      'While an operation keeps new requests waiting, because one revision makes room for another; else null',
  })
  hold: RouteHoldDto | null;

  @StringField({ nullable: true })
  reason: string | null;

  @StringField({ description: 'Also the ETag header' })
  etag: string;

  @ObjectField(() => ActorDto)
  updated_by: ActorDto;

  @TimestampField()
  updated_at: string;
}
