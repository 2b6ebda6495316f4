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

export class ErrorBodyDto {
  @StringField({ description: 'Stable code; branch on this.', example: 'validation_failed' })
  code: string;

  @StringField({ description: 'For people; may change at any time.' })
  message: string;

  @StringField({ enum: CATEGORIES })
  category: string;

  @StringField({ optional: true, description: 'What to do about it.' })
  remediation?: string;

  @StringField({ description: 'The X-Request-Id of this answer.' })
  request_id: string;

  @BooleanField({ description: 'Whether the same request can succeed later.' })
  retryable: boolean;

  @ArrayField(() => FieldIssueDto, { optional: true, description: 'Each field that was refused.' })
  details?: FieldIssueDto[];

  @IntField({ optional: true, description: 'With body_too_large and file_too_large: the limit in bytes.' })
  max_bytes?: number;

  @StringField({ optional: true, description: 'With scope_insufficient: the scope that is needed.' })
  required_scope?: string;

  @StringField({ optional: true, description: 'With conflicts: the operation that is in the way.' })
  operation_id?: string;

  @StringField({ optional: true, description: 'With revision_not_ready: the first revision that is not.' })
  revision?: string;

  @ArrayField('string', { optional: true, description: 'With revision_not_ready: all that are not.' })
  revisions?: string[];

  @StringField({ optional: true, description: 'With binding_exists: the binding there is.' })
  binding_id?: string;

  @IntField({ optional: true, description: 'With cursor_expired: the first event that is still kept.' })
  first_sequence?: number;

  @StringField({ optional: true, description: 'With quota_exceeded: which quota, by its name in the configuration.' })
  quota?: string;

  @IntField({ optional: true, description: 'With quota_exceeded: how much it allows.' })
  limit?: number;
}

/** Every non-success answer. */
export class ErrorEnvelopeDto {
  @ObjectField(() => ErrorBodyDto)
  error: ErrorBodyDto;
}

export class WarningDto {
  @StringField({
    enum: ['unknown_field', 'no_route'],
    description: '`unknown_field`: the field was ignored; `no_route`: what was asked for takes no traffic yet.',
  })
  code: string;

  @StringField({ description: 'Dotted path of the field that it is about.' })
  field: string;

  @StringField({ optional: true, description: 'What to do about it, for people.', example: 'did you mean `strategy`?' })
  message?: string;
}
