import type { ErrorObject } from 'ajv';

export interface SchemaFault {
  path: string[];
  keyword: string;
  message: string;
}

/** Checks values against a schema, and describes the faults for people. */
export async function schemaFaults(
  schema: object,
  { validateFormats }: { validateFormats: boolean },
): Promise<(value: unknown) => SchemaFault[]> {
  const { Ajv } = await import('ajv');
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false, validateFormats });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : tellingOf(validate.errors ?? []).map(faultOf));
}

/**
 * In a choice, every branch reports errors. A fault inside one branch says more than "no branch matched", and more than
 * the faults above the fault of another branch.
 */
function tellingOf(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const some = errors.filter(({ keyword, params }) => {
    return !CHOICES.includes(keyword) && !(keyword === 'type' && params['type'] === 'null');
  });
  const isAbove = (one: ErrorObject) =>
    some.some(({ instancePath }) => instancePath.startsWith(`${one.instancePath}/`));
  const telling = some.filter((one) => !(one.schemaPath.includes('/anyOf/') && isAbove(one)));
  return telling.length > 0 ? telling : errors;
}

/** They only say that something inside them is wrong. */
const CHOICES: readonly string[] = ['anyOf', 'if', 'propertyNames'];

function faultOf({ instancePath, message, params, keyword, propertyName }: ErrorObject): SchemaFault {
  const path = instancePath.split('/').slice(1).map(unescaped);
  const extra = keyword === 'additionalProperties' ? `: ${String(params['additionalProperty'])}` : '';
  const allowed = keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
  const key = propertyName === undefined ? '' : `the key ${JSON.stringify(propertyName)} `;
  return { path, keyword, message: `${key}${message}${extra}${allowed}` };
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
