import { ArrayField, StringField, TimestampField } from '@slipway/platform-http';

export class CreateTenantDto {
  @StringField({
    min: 1,
    max: 255,
    pattern: /^\S(.*\S)?$/,
    description: 'Unique; neither begins nor ends with white space.',
    example: 'acme',
  })
  name: string;
}

export class TenantDto {
  @StringField()
  id: string;

  @StringField()
  name: string;

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
