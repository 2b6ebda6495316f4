import type { ErrorObject } from 'ajv';

export interface SchemaFault {
  path: string[];
  keyword: string;
  message: string;
}

/** What judges values by a schema, and says for people what is wrong with them. */
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
 * Of a choice every branch complains. That none was met says less than what is wrong with one of them, and so does what lies above the
 * fault of another branch.
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

const CHOICES: readonly string[] = ['anyOf', 'if'];

function faultOf({ instancePath, message, params, keyword }: ErrorObject): SchemaFault {
  const path = instancePath.split('/').slice(1).map(unescaped);
  const extra = keyword === 'additionalProperties' ? `: ${String(params['additionalProperty'])}` : '';
  const allowed = keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
  return { path, keyword, message: `${message}${extra}${allowed}` };
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
