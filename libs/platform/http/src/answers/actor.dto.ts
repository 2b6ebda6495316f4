import { OWNER_TYPES, type Owner } from '@slipway/contracts';
import { StringField } from '../fields/field.decorators.js';

/** Who did something, as every answer shows it. */
export class ActorDto {
  @StringField({ example: 'token', description: '`token`, `user`, or `system` for a component of Slipway' })
  type: string;

  @StringField()
  id: string;
}

/** Who answers for a credential, as answers show it. */
export class OwnerDto implements Owner {
  @StringField({ enum: OWNER_TYPES })
  type: Owner['type'];

  @StringField({
    example: 'alice',
    description: 'For users of the hosted identity provider: `user:` followed by their `sub`',
  })
  id: string;
}
