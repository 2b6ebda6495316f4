import { ArrayField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';
import { ONE_LINE, OwnerRequestDto } from './token.dto.js';

const ORGANIZATIONS = { maxItems: 1000, unique: true, item: { min: 1, max: 255 } };
const OWN_ORGANIZATIONS =
  "Organizations (`org_id` in the hosted provider's tokens) whose users can get access to the tenant. An organization without a tenant belongs to the operator tenant. If several tenants have the same organization, each of them can map its users.";

/** Slugs and sign-ins are distinguished by these names, so two must not appear alike. */
function isPlain(name: string): boolean {
  return name === name.normalize('NFKC') && !/[\p{Cc}\p{Cf}\p{Co}]/u.test(name);
}

export class CreateTenantDto {
  @StringField({
    min: 1,
    max: 255,
    ...ONE_LINE,
    description:
      'Unique regardless of case, without white space at either end, in Unicode form NFKC without invisible characters. Slugs of the tenant begin with it. It cannot be changed.',
    example: 'acme',
    check: (name) =>
      isPlain(name) ? undefined : 'name must be in Unicode form NFKC, without control or format characters',
  })
  name: string;

  @ObjectField(() => OwnerRequestDto, {
    optional: true,
    description: 'Owner of the first token. Defaults to the person `admin`.',
  })
  owner?: OwnerRequestDto;

  @ArrayField('string', { ...ORGANIZATIONS, default: [], description: OWN_ORGANIZATIONS, example: ['org_01'] })
  external_organization_ids: string[];
}

/** Required: `null` would count as absent, and then remove nothing. */
export class UpdateTenantDto {
  @ArrayField('string', {
    ...ORGANIZATIONS,
    description: `${OWN_ORGANIZATIONS} The list replaces the previous one. Users of a removed organization lose access from their next request.`,
    example: ['org_01'],
  })
  external_organization_ids: string[];
}

export class TenantDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

  @ArrayField('string', { description: OWN_ORGANIZATIONS })
  external_organization_ids: string[];

  @TimestampField()
  created_at: string;
}

export class CreatedTenantDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

  @StringField({
    nullable: true,
    description:
      "The tenant's first admin token. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.",
  })
  token: string | null;
}

export class TenantListDto {
  @ArrayField(() => TenantDto)
  data: TenantDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
