import { REVISION_STATES, type RevisionState } from '@slipway/contracts';
import { ActorDto, ArrayField, IntField, ObjectField, StringField } from '@slipway/platform-http';
import { RevisionSpecDto } from '@slipway/ports/revisions';

export class RevisionSourceDto {
  @StringField({ enum: ['rollout', 'plan', 'import'] })
  kind: string;

  @StringField({ nullable: true })
  operation_id: string | null;

  @StringField({ nullable: true })
  plan_id: string | null;

  @StringField({ nullable: true })
  base_revision: string | null;
}

export class RevisionDto {
  @StringField() id: string;
  @StringField({ description: 'Name of the deployment' }) deployment: string;
  @IntField({ min: 1 }) number: number;
  @StringField({ example: 'chat-00007' }) name: string;
  @StringField({ enum: REVISION_STATES })
  state: string;
  @StringField({ description: 'Reason for the state, such as a failure; empty if there is none' }) message: string;
  @ObjectField(() => RevisionSpecDto) spec: RevisionSpecDto;
  @StringField({ description: 'SHA-256 of the canonical spec' }) spec_digest: string;
  @ObjectField(() => RevisionSourceDto) source: RevisionSourceDto;
  @StringField({ nullable: true }) change_ref: string | null;
  @ObjectField(() => ActorDto) created_by: ActorDto;
  @StringField({ format: 'date-time' }) created_at: string;
  @StringField({ format: 'date-time', nullable: true }) ready_at: string | null;
}

export class RevisionListDto {
  @ArrayField(() => RevisionDto) data: RevisionDto[];
  @StringField({ nullable: true }) next_cursor: string | null;
}

export class PatchOperationDto {
  @StringField({ enum: ['add', 'remove', 'replace'] }) op: string;
  @StringField({ description: 'JSON Pointer into the spec' }) path: string;
}

export class RevisionDiffDto {
  @StringField() from: string;
  @StringField() to: string;
  @ArrayField(() => PatchOperationDto, {
    description: 'JSON Patch (RFC 6902) that turns the first spec into the second',
  })
  patch: PatchOperationDto[];
}

export class RevisionFilterDto {
  @StringField({ enum: REVISION_STATES, optional: true, description: 'Only revisions in this state' })
  state?: RevisionState;
}
