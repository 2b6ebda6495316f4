import { StringField } from '../fields/field.decorators.js';

/** Who did something, as every answer shows it. */
export class ActorDto {
  @StringField({ example: 'token', description: '`token`, `user`, or `system` for a part of the product' })
  type: string;

  @StringField()
  id: string;
}
