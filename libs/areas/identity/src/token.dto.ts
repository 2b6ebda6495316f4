import { isActorText, OWNER_TYPES, TRIMMED_LINE, type Owner } from '@slipway/contracts';
import {
  ActorDto,
  ArrayField,
  BooleanField,
  IntField,
  ObjectField,
  OwnerDto,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import { SCOPES, TOKEN_STATES, type TokenState } from '@slipway/platform-http/auth';
import { DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS } from './token-rules.js';

/** A name: one line without white space at either end. */
export const ONE_LINE = { pattern: TRIMMED_LINE, patternMessage: 'must be one line without white space at either end' };

const scopeItem = { item: { enum: SCOPES } };

export class OwnerRequestDto implements Owner {
  @StringField({ enum: OWNER_TYPES, description: 'Tokens of a service cannot approve plans.' })
  type: Owner['type'];

  @StringField({
    min: 1,
    max: 255,
    ...ONE_LINE,
    description: 'Owner of the token. All tokens of one owner count as one approver.',
    example: 'alice',
    check: (id) =>
      isActorText(id)
        ? 'must not begin with user:, token: or system:, which are reserved for actors of the product'
        : undefined,
  })
  id: string;
}

/** The life of a new token: a time, or a duration from now. */
export class TokenLifeDto {
  @TimestampField({
    optional: true,
    nullable: true,
    description: 'At most 365 days from now. Not together with `expires_in`.',
  })
  expires_at?: string;

  @StringField({
    optional: true,
    nullable: true,
    min: 2,
    max: 40,
    pattern: /^([0-9]{1,6}w)?([0-9]{1,6}d)?([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,9}s)?$/,
    patternMessage: 'must be a duration such as 30d, 12h or 1d12h, in the units w, d, h, m and s',
    example: '30d',
    description:
      'Time from now until the token expires, in weeks, days, hours, minutes and seconds: `30d`, `12h`, `1d12h`. Not together with `expires_at`.',
  })
  expires_in?: string;
}

export class CreateTokenDto extends TokenLifeDto {
  @StringField({
    min: 1,
    max: 255,
    example: 'ci',
    description: 'Unique among the tokens of the tenant that are neither revoked nor expired.',
  })
  name: string;

  @ArrayField('string', {
    minItems: 1,
    maxItems: 32,
    ...scopeItem,
    description: 'Each scope includes the lower ones. Duplicates are removed.',
  })
  scopes: ('viewer' | 'operator' | 'admin')[];

  @ObjectField(() => OwnerRequestDto, { optional: true, description: 'Defaults to the owner of the caller.' })
  owner?: OwnerRequestDto;
}

export class TokenDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

  @ArrayField('string', scopeItem)
  scopes: string[];

  @StringField({ enum: TOKEN_STATES })
  state: string;

  @StringField({ description: 'Type and id of the actor that created it.', example: 'token:tok_boot' })
  created_by: string;

  @ObjectField(() => OwnerDto)
  owner: OwnerDto;

  @ArrayField(() => OwnerDto, { description: 'Owners of the tokens that this token descends from, oldest first.' })
  minters: OwnerDto[];

  @TimestampField()
  created_at: string;

  @TimestampField()
  expires_at: string;

  @TimestampField({ nullable: true, description: 'Updated at most once a minute while the token is in use.' })
  last_used_at: string | null;

  @TimestampField({ nullable: true })
  revoked_at: string | null;

  @StringField({ nullable: true })
  revoked_by: string | null;

  @StringField({
    nullable: true,
    description:
      'Id of the token that a rotation put in its place. Both have the same name, and this one is usable until `expires_at`.',
  })
  replaced_by: string | null;
}

export class RotateTokenDto extends TokenLifeDto {
  @IntField({
    min: 0,
    max: MAX_OVERLAP_SECONDS,
    default: DEFAULT_OVERLAP_SECONDS,
    description:
      'How long the old token stays usable, in seconds, but not beyond its own expiry. With 0 it is revoked at once.',
  })
  overlap_seconds: number;
}

export class RotatedTokenDto extends TokenDto {
  @StringField({
    nullable: true,
    description:
      'The new token itself. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.',
  })
  token: string | null;

  @ObjectField(() => TokenDto, { description: 'The old token.' })
  replaced: TokenDto;
}

export class CreatedTokenDto extends TokenDto {
  @StringField({
    nullable: true,
    description:
      'The token itself. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.',
  })
  token: string | null;
}

export class TokenListDto {
  @ArrayField(() => TokenDto)
  data: TokenDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class WhoTenantDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

  @BooleanField({ description: 'Whether this is the tenant of the operator.' })
  is_operator: boolean;
}

export class WhoAmIDto {
  @ObjectField(() => WhoTenantDto)
  tenant: WhoTenantDto;

  @ObjectField(() => ActorDto)
  actor: ActorDto;

  @ObjectField(() => OwnerDto, { description: 'Owner of the credential. Approvals are counted by owner.' })
  owner: OwnerDto;

  @ArrayField('string', { ...scopeItem, description: 'All scopes of the caller, including implied ones.' })
  scopes: string[];
}

export class TokenFilterDto {
  @StringField({ enum: TOKEN_STATES, optional: true, description: 'Only tokens in this state' })
  state?: TokenState;
}
