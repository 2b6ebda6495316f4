import { Body, Controller, Injectable, Module, Param, Query } from '@nestjs/common';
import {
  ArrayField,
  assertPreconditions,
  BooleanField,
  etagOf,
  HttpModule,
  Idempotency,
  Conditions,
  IntField,
  JsonField,
  MapField,
  ObjectField,
  Page,
  firstRows,
  pageOf,
  rawJson,
  reply,
  Route,
  StringField,
  TimestampField,
  ValidateOnly,
  defineErrors,
  type IdempotencyClaim,
  type PageRequest,
  type Preconditions,
} from '../src/index.js';

export const sampleErrors = defineErrors({
  sample_not_found: { status: 404, category: 'not_found', message: 'There is no such sample.' },
});

class PartDto {
  @StringField({ min: 1, max: 5 })
  name: string;

  @IntField({ min: 0, max: 100 })
  weight: number;
}

class SampleDto {
  @StringField({ min: 1, max: 10, pattern: /^[a-z]+$/, description: 'Name' })
  name: string;

  @IntField({ min: 1, optional: true, nullable: true })
  size?: number;

  @BooleanField({ default: false })
  flag: boolean;

  @ArrayField(() => PartDto, { optional: true, maxItems: 3 })
  parts?: PartDto[];

  @ArrayField('string', { optional: true, item: { enum: ['a', 'b'] }, unique: true })
  kinds?: string[];

  @MapField({ values: 'string', optional: true, maxEntries: 2 })
  labels?: Record<string, string>;

  @JsonField({ optional: true })
  free?: Record<string, unknown>;

  @ObjectField(() => PartDto, { optional: true })
  part?: PartDto;

  @TimestampField({ optional: true })
  at?: string;
}

class AnswerDto {
  @StringField()
  name: string;
}

class ListDto {
  @ArrayField(() => AnswerDto)
  data: AnswerDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

class ListQuery {
  @StringField({ optional: true, enum: ['open', 'shut'] })
  state?: string;
}

@Injectable()
export class SampleCheck {
  async assertExists(_tenantId: string, params: Record<string, string>): Promise<void> {
    if (params['name'] === 'missing') throw sampleErrors.sample_not_found();
  }
}

@Controller()
export class SampleController {
  @Route({
    method: 'PUT',
    path: '/samples/:name',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'putSample',
    summary: 'Put a sample',
    ok: { 200: [AnswerDto, ListDto] },
    errors: ['sample_not_found'],
    idempotent: true,
    dryRun: true,
    conditional: true,
    query: ListQuery,
    notFoundFirst: SampleCheck,
  })
  put(
    @Param('name') name: string,
    @Body() dto: SampleDto,
    @Idempotency() claim: IdempotencyClaim | undefined,
    @ValidateOnly() dryRun: boolean,
    @Conditions() conditions: Preconditions,
  ): object {
    assertPreconditions(conditions, etagOf(name, 1));
    return { name, dto, claim: claim ?? null, dryRun };
  }

  @Route({
    method: 'GET',
    path: '/samples',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'listSamples',
    summary: 'List samples',
    ok: { 200: ListDto },
    paged: true,
    byTime: true,
  })
  list(@Page('integer') page: PageRequest, @Query() query: ListQuery): object {
    const after = Number(page.cursor?.[0] ?? 0);
    const rows = [1, 2, 3, 4, 5].filter((row) => row > after);
    return { ...pageOf(firstRows(rows, page.limit), (row) => [row]), state: query.state, since: page.since };
  }

  @Route({
    method: 'GET',
    path: '/samples/:name',
    scope: 'viewer',
    tag: 'Deployments',
    operationId: 'getSample',
    summary: 'Get a sample',
    ok: { 200: AnswerDto },
  })
  get(@Param('name') name: string): object {
    return rawJson(JSON.stringify({ name }));
  }

  @Route({
    method: 'POST',
    path: '/samples',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'createSample',
    summary: 'Create a sample',
    ok: { 201: AnswerDto, 202: AnswerDto },
  })
  create(@Body() dto: SampleDto): object {
    return dto.name === 'plain' ? { name: dto.name } : reply(202, { name: dto.name }, { location: '/here' });
  }

  @Route({
    method: 'POST',
    path: '/samples/:name/touch',
    scope: 'operator',
    tag: 'Deployments',
    operationId: 'touchSample',
    summary: 'Touch a sample',
    ok: { 200: AnswerDto },
  })
  touch(@Param('name') name: string): object {
    return { name };
  }

  @Route({
    method: 'POST',
    path: '/failures',
    scope: 'viewer',
    tag: 'System',
    operationId: 'fail',
    summary: 'Fail',
    ok: { 200: null },
  })
  fail(@Body() body: Record<string, unknown>): never {
    throw Object.assign(new Error('the secret of the house'), body);
  }

  @Route({
    method: 'PUT',
    path: '/streams',
    scope: 'viewer',
    tag: 'System',
    operationId: 'stream',
    summary: 'Stream',
    ok: { 200: null },
    streamBody: true,
    maxBodyBytes: 64,
  })
  async stream(@Body() body: AsyncIterable<Buffer> | object): Promise<object> {
    if (!(Symbol.asyncIterator in body)) return { json: body };
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.length;
    return { bytes };
  }

  @Route({
    method: 'GET',
    path: '//healthz',
    scope: 'public',
    tag: 'System',
    operationId: 'health',
    summary: 'Health',
    ok: { 200: null },
  })
  health(): object {
    return { status: 'ok' };
  }
}

@Module({ imports: [HttpModule], controllers: [SampleController], providers: [SampleCheck] })
export class SampleModule {}
