import { ArrayField, IntField, StringField, TimestampField } from '@slipway/platform-http';

export class AuditFilterDto {
  @StringField({ min: 1, max: 255, optional: true, description: 'Only this action, such as `rollout.create`.' })
  action?: string;

  @StringField({
    min: 1,
    max: 512,
    optional: true,
    description: 'Only what this actor did: type and id, such as `token:tok_boot`.',
  })
  actor?: string;

  @StringField({ min: 1, max: 255, optional: true, description: 'Only on this type, such as `deployment`.' })
  resource_type?: string;

  @StringField({ min: 1, max: 1024, optional: true, description: 'Only on what has this name, such as `chat`.' })
  resource_name?: string;
}

export class AuditRowDto {
  @StringField()
  id: string;

  @StringField()
  tenant_id: string;

  @TimestampField({ description: 'When the change was made, to the microsecond.' })
  at: string;

  @StringField({ description: 'Type and id.', example: 'token:tok_boot' })
  actor: string;

  @StringField({ example: 'rollout.create' })
  action: string;

  @StringField({ example: 'deployment' })
  resource_type: string;

  @StringField({ example: 'chat' })
  resource_name: string;

  @StringField({ nullable: true, description: '`X-Request-Id` of the request; null where no request made the change.' })
  request_id: string | null;

  @StringField({ nullable: true, description: 'SHA-256 of the resource before, as canonical JSON.' })
  before_digest: string | null;

  @StringField({ nullable: true, description: 'SHA-256 of the resource after, as canonical JSON.' })
  after_digest: string | null;

  @IntField({
    optional: true,
    description:
      'How many reads the row tells of: its own and those alike since the row before. Absent for a mutation.',
  })
  reads?: number;

  @IntField({
    nullable: true,
    description: 'Position in the chain of the tenant, gapless from 1; null for about a second.',
  })
  sequence: number | null;

  @StringField({ nullable: true, description: 'Hash of the row before; 64 zeros for the first one.' })
  previous_hash: string | null;

  @StringField({
    nullable: true,
    description: 'SHA-256 over `previous_hash` and the canonical JSON (RFC 8785) of this row without its two hashes.',
  })
  hash: string | null;
}

export class AuditPageDto {
  @ArrayField(() => AuditRowDto)
  data: AuditRowDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
