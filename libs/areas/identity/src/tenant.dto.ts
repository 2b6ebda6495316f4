import { ArrayField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';
import { NewOwnerDto } from './token.dto.js';

const ORGANIZATIONS = { maxItems: 1000, unique: true, item: { min: 1, max: 255 } };
const OWN_ORGANIZATIONS =
  "The organizations (`org_id` in the hosted provider's tokens) whose users the tenant may let in. One that no tenant has is the operator tenant's; one that several have, each of them may map.";

/** Slugs and sign-ins are told apart by these names, so two must not look alike. */
function isPlain(name: string): boolean {
  return name === name.normalize('NFKC') && !/[\p{Cc}\p{Cf}\p{Co}]/u.test(name);
}

export class CreateTenantDto {
  @StringField({
    min: 1,
    max: 255,
    pattern: /^\S(.*\S)?$/,
    description:
      'Unique, in whatever case; neither begins nor ends with white space, and is in Unicode form NFKC without invisible characters. Slugs of the tenant begin with it. It cannot be changed.',
    example: 'acme',
    check: (name) =>
      isPlain(name) ? undefined : 'name must be in Unicode form NFKC, without control or format characters',
  })
  name: string;

  @ObjectField(() => NewOwnerDto, {
    optional: true,
    description: 'Who answers for the first token: the person `admin` unless given.',
  })
  owner?: NewOwnerDto;

  @ArrayField('string', { ...ORGANIZATIONS, default: [], description: OWN_ORGANIZATIONS, example: ['org_01'] })
  external_organization_ids: string[];
}

/** Required: `null` would count as absent, and then take nothing away. */
export class UpdateTenantDto {
  @ArrayField('string', {
    ...ORGANIZATIONS,
    description: `${OWN_ORGANIZATIONS} The list takes the place of the one before; an organization that is left out lets nobody in from the next request on.`,
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

  @StringField({ description: "The tenant's first admin token. Shown once." })
  token: string;
}

export class TenantListDto {
  @ArrayField(() => TenantDto)
  data: TenantDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
