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
    description: 'Id, number or name of a revision of this deployment; responses show its name',
    example: 'chat-00002',
  })
  revision: string;

  @IntField({
    min: 0,
    max: 100,
    description: 'Percent of the requests; 0 keeps the revision in the route without traffic',
  })
  weight: number;
}

export class RouteAffinityDto {
  @StringField({
    enum: ['none', 'soft'],
    default: 'soft',
    description: '`soft`: a session stays on its revision and, if possible, on its instance',
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
    description: 'Revision that gets all traffic; the affinity stays unchanged. Send either this or `targets`.',
  })
  revision?: string;

  @ArrayField(() => RouteTargetDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description: 'The complete route; the weights must sum to 100. Send either this or `revision`.',
  })
  targets?: RouteTargetDto[];

  @ObjectField(() => RouteAffinityDto, {
    optional: true,
    description: 'If omitted, `targets` resets it to its default and `revision` keeps it.',
  })
  affinity?: RouteAffinityDto;

  @StringField({ max: 2000, optional: true })
  reason?: string;

  static check(route: SetRouteDto): FieldIssue[] {
    if ((route.revision === undefined) !== (route.targets === undefined)) return [];
    return [{ field: 'targets', code: 'exactly_one', message: 'send exactly one of revision and targets' }];
  }
}

export class RouteHoldDto {
  @IntField({ min: 1, max: 290, description: 'Seconds that one request waits at most before it fails with 503' })
  max_seconds: number;

  @NumberField({
    min: 0,
    nullable: true,
    description: 'Seconds that the hold is expected to last; null if no start was measured',
  })
  estimated_seconds: number | null;

  @TimestampField()
  since: string;
}

export class RouteDto {
  @StringField({ description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @IntField({ min: 1, description: 'Increases by one with every change' })
  generation: number;

  @ArrayField(() => RouteTargetDto)
  targets: RouteTargetDto[];

  @ObjectField(() => RouteAffinityDto)
  affinity: RouteAffinityDto;

  @ObjectField(() => RouteHoldDto, {
    nullable: true,
    description:
      'Set while an operation holds new requests, because one revision gives its capacity to another; else null',
  })
  hold: RouteHoldDto | null;

  @StringField({ nullable: true })
  reason: string | null;

  @StringField({ description: 'Value of the ETag header' })
  etag: string;

  @ObjectField(() => ActorDto)
  updated_by: ActorDto;

  @TimestampField()
  updated_at: string;
}
