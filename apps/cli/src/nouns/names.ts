import type { Slipway } from '@slipway/sdk';
import { CliError, EXIT } from '../exit-codes.js';

/** Finds a product by its slug; an id is used unchanged. */
export async function productIdOf(client: Slipway, given: string): Promise<string> {
  if (given.startsWith('prd_')) return given;
  for await (const { id, slug } of client.admin.modelApi.products.list({ limit: 100 })) if (slug === given) return id;
  throw new CliError(
    `The product ${given} was not found.`,
    EXIT.notFound,
    'Run slipway products list to see all products.',
  );
}

/**
 * Finds a token or tenant by its name. Two with the same name are an error, except a token and its replacement: the name
 * means the replacement, and a token that was replaced only if its replacement has ended before it.
 */
async function idByName(
  what: string,
  rows: AsyncIterable<{ id: string; name: string; state?: string; replaced_by?: string | null }>,
  given: string,
): Promise<string> {
  const named: string[] = [];
  const replaced: string[] = [];
  for await (const { id, name, state, replaced_by: replacedBy } of rows) {
    if (id === given) return id;
    if (name === given && (state === undefined || state === 'active')) (replacedBy ? replaced : named).push(id);
  }
  if (named.length === 0) named.push(...replaced);
  if (named.length === 1) return named[0]!;
  if (named.length === 0) throw new CliError(`The ${what} ${given} was not found.`, EXIT.notFound);
  throw new CliError(
    `Several ${what}s are named ${given}.`,
    EXIT.conflict,
    `Use the id of one of them: ${named.join(', ')}`,
  );
}

/** Finds an operation by its id or its deployment: the running operation, or else the last one. */
export async function operationIdOf(client: Slipway, given: string): Promise<string> {
  if (given.startsWith('op_')) return given;
  const { current_operation_id: current } = await client.deployments.get(given);
  if (current) return current;
  const { data } = await client.operations.list({ resource_name: given, limit: 1 });
  if (data[0]) return data[0].id;
  throw new CliError(
    `The deployment ${given} has no operations.`,
    EXIT.notFound,
    'Run slipway operations list to see all operations.',
  );
}

export const tokenIdOf = (client: Slipway, given: string): Promise<string> =>
  idByName('token', client.tokens.list({ limit: 100 }), given);

export const tenantIdOf = (client: Slipway, given: string): Promise<string> =>
  idByName('tenant', client.tenants.list({ limit: 100 }), given);
