import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { operationsOf, type Operation } from '@slipway/platform-http';
import type { Answer, TestApi } from '../harness/boot-api.js';
import { resolver, typeOf, type Resolve, type Schema } from './schema.js';

/** One operation of the OpenAPI document, in the form that the tests need. */
export interface DocumentedOperation {
  operationId: string;
  method: string;
  path: string;
  /** Names of the path's parameters, in order. */
  placeholders: string[];
  query: { name: string; schema: Schema }[];
  body?: Schema;
  isPaged: boolean;
  isIdempotent: boolean;
  /** Accepts If-Match and If-None-Match of a write. */
  isConditional: boolean;
  hasRehearsal: boolean;
  takesStream: boolean;
  operation: Operation;
}

interface Response {
  content?: Record<string, { schema?: Schema }>;
  'x-error-codes'?: string[];
}

const CATEGORIES = new Set([
  'invalid_request',
  'authentication',
  'permission',
  'not_found',
  'conflict',
  'precondition',
  'limit',
  'capacity',
  'upstream',
  'internal',
]);

/** The OpenAPI document of a running api, which checks answers. */
export class ApiDocument {
  readonly operations: DocumentedOperation[];
  readonly resolve: Resolve;
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(readonly json: any) {
    // Both packages are CommonJS: under `nodenext` their default export is typed as the module.
    (formats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema(json, 'openapi');
    this.resolve = resolver(json.components.schemas);
    this.operations = operationsOf(json).map(({ path, method, operation }) => describe(path, method, operation));
  }

  static async of(api: TestApi): Promise<ApiDocument> {
    return new ApiDocument((await api.send('GET', '/openapi.json', { token: null })).body);
  }

  /**
   * Returns how an answer breaks the document, or undefined. Answers of the path
   * itself (404, 405) belong to no operation.
   */
  violationOf(one: DocumentedOperation, answer: Answer): string | undefined {
    const response = one.operation.responses[String(answer.status)] as Response | undefined;
    if (answer.status >= 400) return this.errorViolation(one, answer, response);
    if (!response) return `the document has no ${answer.status}`;
    const type = answer.headers['content-type']?.split(';', 1)[0];
    const content = response.content ?? {};
    if (Object.keys(content).length === 0)
      return answer.text === '' ? undefined : `${answer.status} has a body, the document says it has none`;
    if (type === undefined || !(type in content)) return `the document has no ${answer.status} of ${type}`;
    if (type !== 'application/json') return undefined;
    return (
      this.mismatch(
        `#/paths/${pointer(one.path)}/${one.method.toLowerCase()}/responses/${answer.status}/content/application~1json/schema`,
        answer.body,
      ) ?? undocumented(content[type]!.schema!, answer.body, this.resolve, '')
    );
  }

  /** Returns how an error breaks the envelope of all errors, or undefined. */
  envelopeViolation(answer: Answer): string | undefined {
    const envelope = '#/components/schemas/ErrorEnvelopeDto';
    const mismatch =
      this.mismatch(envelope, answer.body) ?? undocumented({ $ref: envelope }, answer.body, this.resolve, '');
    if (mismatch) return mismatch;
    const { error } = answer.body;
    if (!CATEGORIES.has(error.category)) return `category ${error.category}`;
    if (error.request_id !== answer.headers['x-request-id'])
      return `request_id ${error.request_id} is not the header's`;
    if (!error.retryable !== (answer.headers['x-should-retry'] === 'false'))
      return `retryable ${error.retryable}, x-should-retry ${answer.headers['x-should-retry']}`;
    return undefined;
  }

  private errorViolation(one: DocumentedOperation, answer: Answer, response: Response | undefined): string | undefined {
    const broken = this.envelopeViolation(answer);
    if (broken) return broken;
    const { code } = answer.body.error;
    if (answer.status === 405 || code === 'not_found') return undefined;
    return response?.['x-error-codes']?.includes(code)
      ? undefined
      : `${one.operationId} does not publish ${answer.status} ${code}`;
  }

  private mismatch(reference: string, value: unknown): string | undefined {
    let validate = this.validators.get(reference);
    if (!validate) this.validators.set(reference, (validate = this.ajv.compile({ $ref: `openapi${reference}` })));
    if (validate(value)) return undefined;
    return `against ${reference}: ${(validate.errors ?? [])
      .slice(0, 3)
      .map((error) => `${error.instancePath} ${error.message}`)
      .join('; ')}`;
  }
}

function pointer(path: string): string {
  return encodeURIComponent(path.replace(/~/g, '~0').replace(/\//g, '~1'));
}

/** Returns a field of an answer that the document does not describe: no client can know it or rely on it. */
function undocumented(given: Schema, value: unknown, resolve: Resolve, path: string): string | undefined {
  const schema = resolve(given);
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value))
    return schema.items && first(value, (item) => undocumented(schema.items!, item, resolve, `${path}[]`));
  const alternatives = schema.anyOf?.map((one) => undocumented(one, value, resolve, path));
  if (alternatives) return alternatives.includes(undefined) ? undefined : alternatives[0];
  if (
    !schema.properties ||
    (typeOf(schema) === 'object' && schema.additionalProperties === true && Object.keys(schema.properties).length === 0)
  )
    return undefined;
  return first(Object.entries(value), ([name, item]) => {
    const property = schema.properties![name];
    return property
      ? undocumented(property, item, resolve, `${path}.${name}`)
      : `the document does not know ${path}.${name}`;
  });
}

function first<T>(values: T[], find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(path: string, method: string, operation: Operation): DocumentedOperation {
  const parameters = operation.parameters ?? [];
  const names = parameters.map((parameter) => parameter.name);
  return {
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    operation,
    placeholders: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!),
    query: parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema }) => ({ name, schema: (schema ?? {}) as Schema })),
    body: operation.requestBody?.content['application/json']?.schema as Schema | undefined,
    isPaged: names.includes('cursor'),
    isIdempotent: names.includes('Idempotency-Key'),
    isConditional: names.includes('If-Match'),
    hasRehearsal: names.includes('validate_only'),
    takesStream: operation.requestBody?.content['application/octet-stream'] !== undefined,
  };
}
