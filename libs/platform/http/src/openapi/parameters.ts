import { LIST_ORDERS } from '../answers/page.js';
import { PATH_RESOURCES } from '@slipway/contracts';
import { fullPathOf, hasEtag, takesKey, type RouteSpec } from '../routes/route-spec.js';

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Record<string, unknown>;
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A retry with the same key returns the result of the first request. Visible ASCII, bare or as an RFC 8941 string.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

const VALIDATE_ONLY: Parameter = {
  name: 'validate_only',
  in: 'query',
  required: false,
  description: 'Run every check, write nothing, and return what would happen.',
  schema: { type: 'boolean', default: false },
};

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'ETag that the resource must still have; otherwise 412 `precondition_failed`. Responses return it.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETag of the response that the client has; 304 without a body if the response is unchanged.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH_WRITE: Parameter = {
  ...IF_NONE_MATCH,
  description: '`*`: the resource must not exist yet. An ETag: the resource must not have it. Otherwise 412.',
};

const PAGE: Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description:
      'Maximum number of rows in a page, 1 to 200. Pages are also bounded to about 1 MiB, so a page may have fewer rows and still have a `next_cursor`. Only a `next_cursor` of null marks the last page.',
    schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  },
  {
    name: 'cursor',
    in: 'query',
    required: false,
    description: '`next_cursor` of the previous page; omit it for the first page.',
    schema: { type: 'string' },
  },
];

const BY_TIME: Parameter[] = [
  {
    name: 'order',
    in: 'query',
    required: false,
    description: '`desc`: newest first. A `cursor` is valid only in the order of its page.',
    schema: { type: 'string', enum: [...LIST_ORDERS], default: 'desc' },
  },
  {
    name: 'since',
    in: 'query',
    required: false,
    description: 'Only rows created at this time or later.',
    schema: { type: 'string', format: 'date-time' },
  },
  {
    name: 'until',
    in: 'query',
    required: false,
    description: 'Only rows created before this time.',
    schema: { type: 'string', format: 'date-time' },
  },
];

/**
 * Returns all parameters of a route, each exactly once: those that Nest found, and the rest from the route's
 * declaration.
 */
export function parametersOf(route: RouteSpec, found: Parameter[]): Parameter[] {
  const parameters = new Map(found.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
  const add = (parameter: Parameter): void =>
    void parameters.set(`${parameter.in} ${parameter.name}`, structuredClone(parameter));
  for (const [, collection, name] of fullPathOf(route).matchAll(/(?<![^/:])([^/:]+)\/:(\w+)/g)) {
    const known = parameters.get(`path ${name}`);
    add({
      ...known,
      ...(PATH_RESOURCES[collection!] ?? resourceOf(collection!, name!)),
      name: name!,
      in: 'path',
      required: true,
      schema: { ...known?.schema, type: 'string', minLength: 1 },
    });
  }
  declaredParametersOf(route).forEach(add);
  return [...parameters.values()];
}

/** Returns the parameters that follow from the declaration of a route. Those of its path are not among them. */
export function declaredParametersOf(route: RouteSpec): Parameter[] {
  return [
    ...(takesKey(route) ? [IDEMPOTENCY_KEY] : []),
    ...(route.dryRun ? [VALIDATE_ONLY] : []),
    ...(route.conditional ? [IF_MATCH, IF_NONE_MATCH_WRITE] : []),
    ...(hasEtag(route) ? [IF_NONE_MATCH] : []),
    ...(route.paged ? PAGE : []),
    ...(route.byTime ? BY_TIME : []),
  ];
}

/** For an area that is missing in the vocabulary. */
function resourceOf(collection: string, name: string): Pick<Parameter, 'description' | 'example'> {
  return { description: `The ${name} of one of the ${collection.replaceAll('-', ' ')}.`, example: 'first' };
}
