import { ArrayField, BooleanField, IntField, ObjectField, StringField } from '../fields/field.decorators.js';

const CATEGORIES = [
  'invalid_request',
  'authentication',
  'permission',
  'not_found',
  'conflict',
  'precondition',
  'limit',
  'capacity',
  'upstream',
  'internal',
];

export class FieldIssueDto {
  @StringField({ description: 'Dotted path of the field.', example: 'targets[0].weight' })
  field: string;

  @StringField({ description: 'Stable code of the broken rule.', example: 'max' })
  code: string;

  @StringField()
  message: string;
}

export class ResourceUseDto {
  @StringField({ example: 'publication' })
  type: string;

  @StringField({ example: 'pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;
}

export class ErrorBodyDto {
  @StringField({ description: 'Stable code; branch on this.', example: 'validation_failed' })
  code: string;

  @StringField({ description: 'Text for people; it may change at any time.' })
  message: string;

  @StringField({ enum: CATEGORIES })
  category: string;

  @StringField({ optional: true, description: 'Recommended next step.' })
  remediation?: string;

  @StringField({ description: 'X-Request-Id of this response.' })
  request_id: string;

  @BooleanField({ description: 'Whether the same request can succeed later.' })
  retryable: boolean;

  @ArrayField(() => FieldIssueDto, { optional: true, description: 'Each rejected field.' })
  details?: FieldIssueDto[];

  @IntField({ optional: true, description: 'With body_too_large and file_too_large: the limit in bytes.' })
  max_bytes?: number;

  @StringField({ optional: true, description: 'With scope_insufficient: the required scope.' })
  required_scope?: string;

  @StringField({ optional: true, description: 'With conflicts: the operation that blocks the request.' })
  operation_id?: string;

  @StringField({ optional: true, description: 'With revision_not_ready: the first revision that is not ready.' })
  revision?: string;

  @ArrayField('string', { optional: true, description: 'With revision_not_ready: all revisions that are not ready.' })
  revisions?: string[];

  @StringField({ optional: true, description: 'With binding_exists: the existing binding.' })
  binding_id?: string;

  @StringField({ optional: true, description: 'With token_exists and token_not_rotatable: the existing token.' })
  token_id?: string;

  @StringField({ optional: true, description: 'With token_not_rotatable: the token that has already replaced it.' })
  replaced_by?: string;

  @ArrayField(() => ResourceUseDto, {
    optional: true,
    description: 'With codes that end in `_in_use`: what uses the resource, at most 20.',
  })
  used_by?: ResourceUseDto[];

  @IntField({ optional: true, description: 'With cursor_expired: the sequence of the first event that is still kept.' })
  first_sequence?: number;

  @StringField({ optional: true, description: 'With quota_exceeded: the name of the quota in the configuration.' })
  quota?: string;

  @IntField({ optional: true, description: 'With quota_exceeded: the limit of the quota.' })
  limit?: number;

  @IntField({ optional: true, description: 'With quota_exceeded: how much of the quota is in use.' })
  used?: number;
}

/** The body of every non-success answer. */
export class ErrorEnvelopeDto {
  @ObjectField(() => ErrorBodyDto)
  error: ErrorBodyDto;
}

export class WarningDto {
  @StringField({
    enum: ['unknown_field', 'unknown_parameter', 'no_route', 'idempotency_key_ignored', 'secret_omitted'],
    description:
      '`unknown_field`: the field was ignored; `unknown_parameter`: the query parameter was ignored; `no_route`: the candidate will receive no traffic, because the deployment has no route; `idempotency_key_ignored`: the operation does not accept `Idempotency-Key`; `secret_omitted`: the response repeats an earlier one, and only that one had the secret.',
  })
  code: string;

  @StringField({
    description: 'Dotted path of the field, or name of the parameter or header, that the warning is about.',
  })
  field: string;

  @StringField({
    optional: true,
    description: 'Text for people: the recommended next step.',
    example: 'did you mean `strategy`?',
  })
  message?: string;
}
