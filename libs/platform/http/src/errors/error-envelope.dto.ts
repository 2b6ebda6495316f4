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
}

/** Every non-success answer. */
export class ErrorEnvelopeDto {
  @ObjectField(() => ErrorBodyDto)
  error: ErrorBodyDto;
}

export class WarningDto {
  @StringField({ enum: ['unknown_field'] })
  code: string;

  @StringField({ description: 'Dotted path of the field that was ignored.' })
  field: string;
}
