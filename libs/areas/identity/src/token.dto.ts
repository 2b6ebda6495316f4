import { isActorText, OWNER_TYPES, type Owner } from '@slipway/contracts';
import {
  ActorDto,
  ArrayField,
  BooleanField,
  ObjectField,
  OwnerDto,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import { SCOPES } from '@slipway/platform-http/auth';

const scopeItem = { item: { enum: SCOPES } };

export class NewOwnerDto implements Owner {
  @StringField({ enum: OWNER_TYPES, description: 'Tokens of a service cannot approve plans.' })
  type: Owner['type'];

  @StringField({
    min: 1,
    max: 255,
    pattern: /^\S(.*\S)?$/,
    description: 'Owner of the token. All tokens of one owner count as one approver.',
    example: 'alice',
    check: (id) =>
      isActorText(id)
        ? 'must not begin with user:, token: or system:, which are reserved for actors of the product'
        : undefined,
  })
  id: string;
}

export class CreateTokenDto {
  @StringField({ min: 1, max: 255, example: 'ci' })
  name: string;

  @ArrayField('string', {
    minItems: 1,
    maxItems: 32,
    ...scopeItem,
    description: 'Each scope includes the lower ones. Duplicates are removed.',
  })
  scopes: ('viewer' | 'operator' | 'admin')[];

  @TimestampField({
    optional: true,
    nullable: true,
    description: 'Defaults to 90 days from now; at most 365 days from now.',
  })
  expires_at?: string;

  @ObjectField(() => NewOwnerDto, { optional: true, description: 'Defaults to the owner of the caller.' })
  owner?: NewOwnerDto;
}

export class TokenDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

  @ArrayField('string', scopeItem)
  scopes: string[];

  @StringField({ enum: ['active', 'revoked', 'expired'] })
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
}

export class CreatedTokenDto extends TokenDto {
  @StringField({ description: 'The token itself. Shown once.' })
  token: string;
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
