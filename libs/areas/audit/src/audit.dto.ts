import { AUDIT_ACTIONS, AUDITED_RESOURCES, namesOf, patternsOf } from '@slipway/contracts';
import { ArrayField, IntField, StringField, TimestampField } from '@slipway/platform-http';

const ACTIONS = Object.keys(AUDIT_ACTIONS);

export class AuditFilterDto {
  @StringField({
    enum: patternsOf(ACTIONS),
    optional: true,
    description: 'Only rows with this action, or with all actions that begin with `rollout.` for `rollout.*`.',
  })
  action?: string;

  @StringField({
    min: 1,
    max: 512,
    optional: true,
    description: 'Only rows of this actor, by type and id, such as `token:tok_boot`.',
  })
  actor?: string;

  @StringField({ enum: AUDITED_RESOURCES, optional: true, description: 'Only rows about this type of resource.' })
  resource_type?: string;

  @StringField({
    min: 1,
    max: 1024,
    optional: true,
    description: 'Only rows about resources with this name, such as `chat`.',
  })
  resource_name?: string;
}

/** Returns the actions that a filter selects. */
export function actionsOf(pattern: string): string[] {
  return namesOf(pattern, ACTIONS);
}

export class AuditRowDto {
  @StringField()
  id: string;

  @StringField()
  tenant_id: string;

  @TimestampField({ description: 'Time of the change, with microseconds.' })
  at: string;

  @StringField({ description: 'Type and id of the actor.', example: 'token:tok_boot' })
  actor: string;

  @StringField({ example: 'rollout.create' })
  action: string;

  @StringField({ example: 'deployment' })
  resource_type: string;

  @StringField({ example: 'chat' })
  resource_name: string;

  @StringField({
    nullable: true,
    description: '`X-Request-Id` of the request; null if the change was not made by a request.',
  })
  request_id: string | null;

  @StringField({ nullable: true, description: 'SHA-256 of the resource before the change, as canonical JSON.' })
  before_digest: string | null;

  @StringField({ nullable: true, description: 'SHA-256 of the resource after the change, as canonical JSON.' })
  after_digest: string | null;

  @IntField({
    optional: true,
    description:
      'Number of reads that the row covers: its own and identical ones since the previous row. Omitted for mutations.',
  })
  reads?: number;

  @IntField({
    nullable: true,
    description:
      'Position in the chain of the tenant, from 1 without gaps; null until the row is sealed, about a second later.',
  })
  sequence: number | null;

  @StringField({ nullable: true, description: 'Hash of the previous row; 64 zeros for the first one.' })
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
