import {
  ActorDto,
  ArrayField,
  BooleanField,
  ObjectField,
  StringField,
  TimestampField,
  type FieldIssue,
} from '@slipway/platform-http';
import { SCOPES } from '@slipway/platform-http/auth';

const ACCESS_STATUSES = ['active', 'revoked'] as const;
const scopeItem = { item: { enum: SCOPES } };

export class SetConsoleAccessDto {
  @BooleanField({ description: 'True grants access, false revokes it.' })
  access: boolean;

  @StringField({ min: 1, max: 255, optional: true, description: 'Unchanged if omitted.', example: 'Ada Lovelace' })
  display_name?: string;

  @StringField({
    min: 1,
    max: 255,
    description: "Id of the organization: `org_id` in the provider's tokens.",
    example: 'org_01',
  })
  external_organization_id: string;

  @StringField({ min: 1, max: 255, description: "Id of the user: `sub` in the provider's tokens.", example: 'user_01' })
  external_user_id: string;

  /** `declareProvider` declares it: its one value is configuration, which no decorator can know. */
  provider: string;

  @ArrayField('string', {
    maxItems: 32,
    optional: true,
    ...scopeItem,
    description:
      'At least one to grant access; ignored when access is revoked. Each scope includes the lower ones. Duplicates are removed.',
  })
  scopes?: ('viewer' | 'operator' | 'admin')[];

  static check(dto: SetConsoleAccessDto): FieldIssue[] {
    if (!dto.access || (dto.scopes?.length ?? 0) > 0) return [];
    return [
      {
        field: 'scopes',
        code: dto.scopes ? 'min_items' : 'required',
        message: 'scopes must have at least 1 item when access is granted',
      },
    ];
  }
}

/** Makes the configured provider the only value of `provider`, for requests and in the OpenAPI document. */
export function declareProvider(provider: string): void {
  StringField({ enum: [provider], description: 'The configured hosted identity provider.' })(
    SetConsoleAccessDto.prototype,
    'provider',
  );
}

export class ConsoleAccessDto {
  @StringField()
  id: string;

  @StringField()
  provider: string;

  @StringField()
  external_organization_id: string;

  @StringField()
  external_user_id: string;

  @StringField({ nullable: true })
  display_name: string | null;

  @BooleanField()
  access: boolean;

  @ArrayField('string', { ...scopeItem, description: 'Empty if access is revoked.' })
  scopes: string[];

  @StringField({ enum: ACCESS_STATUSES })
  status: string;

  @TimestampField()
  created_at: string;

  @TimestampField()
  updated_at: string;

  @ObjectField(() => ActorDto)
  updated_by: ActorDto;
}

export class DeletedConsoleAccessDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;
}

export class ConsoleAccessListDto {
  @ArrayField(() => ConsoleAccessDto)
  data: ConsoleAccessDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class ConsoleAccessFilterDto {
  @StringField({ enum: ACCESS_STATUSES, optional: true, description: 'Only identities with this status' })
  status?: (typeof ACCESS_STATUSES)[number];
}
