import { OWNER_TYPES, type Owner } from '@slipway/contracts';
import { StringField } from '../fields/field.decorators.js';

/** The actor of an action, as all answers show it. */
export class ActorDto {
  @StringField({ example: 'token', description: '`token`, `user`, or `system` for a component of Slipway' })
  type: string;

  @StringField()
  id: string;

  @StringField({
    optional: true,
    nullable: true,
    description:
      'Name of the token or the person at the time of the action; null if unknown, absent for components of Slipway and in records that are older than this field',
  })
  name?: string | null;
}

/** The owner of a credential, who is responsible for its use. */
export class OwnerDto implements Owner {
  @StringField({ enum: OWNER_TYPES })
  type: Owner['type'];

  @StringField({
    example: 'alice',
    description: 'For users of the hosted identity provider: `user:` followed by their `sub`',
  })
  id: string;
}
