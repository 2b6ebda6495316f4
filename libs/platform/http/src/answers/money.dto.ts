import { NumberField, StringField } from '../fields/field.decorators.js';

/** An amount of money, in requests and answers. */
export class MoneyDto {
  @NumberField({ min: 0, max: 1_000_000_000 })
  amount: number;

  @StringField({ pattern: /^[A-Z]{3}$/, description: 'ISO 4217', example: 'EUR' })
  currency: string;
}
