import { ArrayField, BooleanField, MapField, StringField, TimestampField } from '@slipway/platform-http';

export const EXTERNAL_PROVIDERS = ['e2b', 'daytona', 'custom'] as const;
export type ExternalProvider = (typeof EXTERNAL_PROVIDERS)[number];

export const REFERENCE_STATES = ['active', 'revoked'] as const;

export class CreateReferenceDto {
  @StringField({ enum: EXTERNAL_PROVIDERS })
  provider: ExternalProvider;

  @StringField({
    min: 1,
    max: 2048,
    format: 'uri',
    example: 'https://49983-sandbox.e2b.app',
    description:
      'http or https URL without user, query and fragment. Files are sent only to URLs that the operator allows.',
  })
  base_url: string;

  @StringField({
    min: 1,
    max: 255,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._~-]*$/,
    description: 'Id of the sandbox at the provider.',
  })
  external_id: string;

  @StringField({
    min: 1,
    max: 4096,
    pattern: /^[\x21-\x7e]+$/,
    format: 'password',
    optional: true,
    writeOnly: true,
    description: 'Sent to the provider with each file; stored encrypted, never shown.',
  })
  credential?: string;

  @MapField({
    values: 'string',
    maxEntries: 64,
    maxKeyLength: 63,
    maxValueLength: 255,
    optional: true,
    description: 'Labels of the sandbox that is created with the reference.',
  })
  labels?: Record<string, string>;
}

export class ReferenceDto {
  @StringField()
  id: string;

  @StringField({ description: 'Sandbox that was created with the reference.' })
  sandbox_id: string;

  @StringField({ enum: EXTERNAL_PROVIDERS })
  provider: string;

  @StringField()
  base_url: string;

  @StringField()
  external_id: string;

  @BooleanField({ description: 'Whether the operator allows sending files to base_url. If not, every transfer fails.' })
  egress_allowed: boolean;

  @StringField({ enum: REFERENCE_STATES })
  state: string;

  @TimestampField({ nullable: true })
  revoked_at: string | null;

  @StringField({ nullable: true, description: 'Type and id of the actor.', example: 'token:tok_boot' })
  revoked_by: string | null;

  @TimestampField()
  created_at: string;
}

export class ReferenceListDto {
  @ArrayField(() => ReferenceDto)
  data: ReferenceDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class DeletedReferenceDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;

  @BooleanField({ description: 'Always false: deleting sends nothing to the external sandbox.' })
  external_sandbox_changed: boolean;
}

export class RevokedReferenceDto {
  @StringField()
  id: string;

  @StringField({ enum: ['revoked'] })
  state: string;

  @TimestampField({ description: 'Time of the first revocation.' })
  revoked_at: string;

  @BooleanField({ description: 'Always false: revoking sends nothing to the external sandbox.' })
  external_sandbox_changed: boolean;
}

export class ReferenceFilterDto {
  @StringField({ enum: REFERENCE_STATES, optional: true, description: 'Only references in this state' })
  state?: (typeof REFERENCE_STATES)[number];
}
