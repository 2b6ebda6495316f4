import type { ArgValue, EngineArg } from '@slipway/contracts';
import { BooleanField, JsonField, NumberField, StringField } from '@slipway/platform-http';

/** An argument of an engine, as the operator or a built-in template declares it. */
export class EngineArgDto implements EngineArg {
  @StringField({ description: 'Key of `runtime.args`', example: 'ctx_size' })
  name: string;

  @StringField({
    enum: ['string', 'integer', 'number', 'boolean', 'choice', 'json'],
    description: '`string` takes a number or true/false as well; `json` is the text of a JSON object or list',
  })
  type: EngineArg['type'];

  @NumberField({ optional: true, description: 'Of a number, inclusive' })
  min?: number;

  @NumberField({ optional: true, description: 'Of a number, inclusive' })
  max?: number;

  @StringField({ optional: true, description: 'Another argument, whose value it may not be below' })
  at_least?: string;

  @JsonField({ any: true, optional: true, description: 'Passed on where a revision sets nothing', example: 8192 })
  default?: ArgValue;

  @JsonField({ any: true, optional: true, description: 'A list: the values that it takes', example: ['f16', 'q8_0'] })
  choices?: ArgValue[];

  @JsonField({ any: true, optional: true, description: 'A list: values worth trying', example: [4096, 8192] })
  tune?: ArgValue[];

  @BooleanField({ optional: true, description: 'It may change what the engine answers' })
  quality?: true;

  @StringField({ optional: true, description: 'What it is a choice between', example: 'throughput against ITL' })
  reason?: string;
}
