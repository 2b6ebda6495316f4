import type { OperationId, Slipway } from '@slipway/sdk';
import { ENDPOINTS, INPUTS, type InputField } from '@slipway/sdk/endpoints';
import { CliError } from '../exit-codes.js';
import { BY_TIME_FIELDS, numberOf, withField } from './flags.js';
import type { CallVerb, CommandInput, EndpointVerb, Flag, TypedValue } from './verb.js';
import { ANYTHING } from './views.js';

/** Fields that have no flag of their own: the flags of every list and `--dry-run` fill them. */
const COMMON = ['limit', 'cursor', 'validate_only', ...BY_TIME_FIELDS];
/** Flags of all or many commands. A field with such a name is given by `--file`. */
const TAKEN = [
  ...['context', 'output', 'json', 'jq', 'verbose', 'yes', 'help', 'version'],
  ...['file', 'allow-unknown', 'idempotency-key', 'if-match', 'dry-run', 'wait', 'timeout'],
  ...['limit', 'watch', 'interval'],
];

const AS: Record<InputField['type'], Flag['as']> = {
  text: 'text',
  number: 'number',
  boolean: 'flag',
  list: 'list',
  json: 'json',
};

const CHANGES_DEPLOYMENT = '/api/v1/deployments/{name}';

export const OPERATIONS = Object.keys(ENDPOINTS) as OperationId[];

/**
 * The command of an operation that no table names: `slipway webhooks list`, `slipway webhooks test`, or, if the noun has
 * such a verb already, `slipway webhooks test-webhook`.
 */
export function plainVerb(
  operation: OperationId,
  isTaken: (noun: string, verb: string) => boolean,
): { noun: string; verb: EndpointVerb } {
  const parts = ENDPOINTS[operation].path.split('/').slice(3);
  const [last, owner] = [parts.at(-1)!, parts.at(-2) ?? ''];
  const [word] = /^[a-z]+/.exec(operation)!;
  // An action on one resource: `/webhooks/{id}/test`.
  const isAction = owner.startsWith('{') && !last.startsWith('{') && !['list', 'get', 'set', 'create'].includes(word);
  const near = last.startsWith('{') ? owner : last;
  const [noun, short] = isAction ? [parts.at(-3)!, last] : [near, word];
  const long = operation.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const verb = isTaken(noun, short) ? long : short;
  const examples = [`slipway ${noun} ${verb} ${argsOf({ operation })}`.trim()];
  return { noun, verb: { verb, operation, examples } };
}

/** Completes a verb by what the SDK's tables say about its operation. The verb's own members override that. */
export function derived(verb: EndpointVerb): CallVerb {
  const { operation } = verb;
  const { method, path, query = [], takesKey, takesIfMatch } = ENDPOINTS[operation];
  const { summary, body, answersOperation } = INPUTS[operation];
  const isChange = method !== 'GET' && method !== 'DELETE';
  const args = verb.args ?? argsOf(verb);
  const own = {
    args,
    summary,
    takesBody: body !== undefined,
    takesKey,
    takesIfMatch,
    isList: query.includes('cursor'),
    isByTime: BY_TIME_FIELDS.every((name) => query.includes(name)),
    answersOperation,
    ...(method === 'DELETE' && { confirm: 'yes' as const }),
    changesDeployment: isChange && path.startsWith(CHANGES_DEPLOYMENT),
    view: ANYTHING,
    call: (client: Slipway, given: CommandInput) => called(client, verb, given),
    ...(query.includes('validate_only') && {
      rehearse: async (client: Slipway, given: CommandInput) =>
        client.api.rehearse(operation, await inputOf(client, verb, given)),
    }),
  };
  const operations = [operation, ...(verb.operations ?? [])];
  return { ...own, ...verb, args, operations, flags: flagsOf(verb) };
}

function called(client: Slipway, verb: EndpointVerb, given: CommandInput): TypedValue {
  const { operation } = verb;
  if (ENDPOINTS[operation].query?.includes('cursor')) return client.api.list(operation, inputWith(verb, given));
  return inputOf(client, verb, given).then((input) => client.api.call(operation, input));
}

const pathNames = (operation: OperationId): string[] =>
  [...ENDPOINTS[operation].path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

/** `/webhooks/{id}/deliveries/{event_id}` takes `<webhook> <delivery>`. */
function argsOf({ operation, argFields = [] }: Pick<EndpointVerb, 'operation' | 'argFields'>): string {
  const parts = ENDPOINTS[operation].path.split('/');
  const owners = parts.flatMap((part, at) => (part.startsWith('{') ? [singular(parts[at - 1]!)] : []));
  return [...owners, ...argFields.map(kebab)].map((name) => `<${name}>`).join(' ');
}

const singular = (plural: string): string =>
  plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/(?<=x|ss)es$|(?<!s)s$/, '');

const kebab = (name: string): string => name.replaceAll('_', '-');

/** The flags of the verb, with the values that the api knows, and a flag for each field that has none. */
function flagsOf({ operation, flags = [], argFields = [], without = [], ...verb }: EndpointVerb): readonly Flag[] {
  const { query = {}, body = {} } = INPUTS[operation];
  const named = flags.map((flag) => {
    const field = flag.query ? query[flag.query] : body[flag.body ?? ''];
    return field?.values && flag.source === undefined ? { values: field.values, ...flag } : flag;
  });
  const given = new Set(flags.map((flag) => (flag.query ?? flag.body ?? '').split('.')[0]));
  const hasFlag = (name: string): boolean =>
    ![...COMMON, ...argFields, ...without].includes(name) && !given.has(name) && !TAKEN.includes(kebab(name));
  const rest = (fields: Readonly<Record<string, InputField>>, part: 'query' | 'body') =>
    Object.entries(fields).flatMap(([name, field]) => (hasFlag(name) ? [flagOf(name, field, part)] : []));
  const ofBody = verb.takesBody === false ? [] : rest(body, 'body');
  // A field of both the query and the body is sent in the body.
  const ofQuery = rest(query, 'query').filter((flag) => !ofBody.some(({ body: name }) => name === flag.query));
  return [...named, ...ofQuery, ...ofBody];
}

function flagOf(name: string, { type, values, about }: InputField, part: 'query' | 'body'): Flag {
  const text = (about ?? `the field ${name}`).replaceAll('`', '').replace(/\.$/, '');
  return {
    flags: `--${kebab(name)}${type === 'boolean' ? '' : ` <${type}>`}`,
    // Summaries are phrases; a word such as URL stays as it is.
    summary: /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text,
    as: AS[type],
    [part]: name,
    ...(values && { values }),
  };
}

async function inputOf(client: Slipway, verb: EndpointVerb, given: CommandInput): Promise<TypedValue> {
  const [first, ...others] = given.args;
  if (!verb.idOf || first === undefined) return inputWith(verb, given);
  return inputWith(verb, { ...given, args: [await verb.idOf(client, first), ...others] });
}

/** The path, the query and the body, as the SDK takes them. */
function inputWith({ operation, argFields = [], bodyOf }: EndpointVerb, given: CommandInput): TypedValue {
  const { query = {}, body: fields } = INPUTS[operation];
  const names = pathNames(operation);
  const path = Object.fromEntries(names.map((name, at) => [name, given.args[at]]));
  const options = { ...given.options };
  let body: TypedValue = fields && (bodyOf ? bodyOf(given) : (given.body ?? {}));
  for (const [at, name] of argFields.entries()) {
    const text = given.args[names.length + at];
    if (text === undefined) throw new CliError(`The argument <${kebab(name)}> is missing.`);
    const value = (query[name] ?? fields?.[name])?.type === 'number' ? numberOf(text, `<${kebab(name)}>`) : text;
    if (name in query) options[name] = value;
    else body = withField(body, [name], value);
  }
  return { path, options, ...(fields && { body }) };
}
