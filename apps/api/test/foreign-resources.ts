import { expectStatus, type TestApi } from './boot-api.js';

/** How to reach a resource of another tenant with one operation. */
export interface ForeignResource {
  /** Makes the resource as the operator tenant; answers the path's parameters. Called once for each name below. */
  params: (api: TestApi) => Promise<Record<string, string>>;
  /** A body that is sound in itself, so that nothing but the tenant stands in the way. */
  body?: unknown;
  query?: string;
}

/** An operation whose path names no resource of a tenant; the text says why a foreign one cannot be reached. */
export type NoResource = { none: string };

const token = once(async (api) => {
  const created = expectStatus(await api.send('POST', '/api/v1/tokens', { body: { name: 'theirs', scopes: ['viewer'] } }), 201);
  return { id: created.id };
});

/**
 * One row per operation of the OpenAPI document. An operation without a row fails the test: whoever adds an operation
 * says here how it keeps tenants apart.
 */
export const FOREIGN: Record<string, ForeignResource | NoResource> = {
  // Identity
  createTenant: { none: 'refused to all but the operator tenant' },
  listTenants: { none: 'refused to all but the operator tenant' },
  createToken: { none: 'creates in the tenant of the caller' },
  listTokens: { none: 'lists the tokens of the caller' },
  revokeToken: { params: token },
  whoAmI: { none: 'shows the caller alone' },
};

/** One resource serves every operation on its kind. */
function once(make: ForeignResource['params']): ForeignResource['params'] {
  let made: Promise<Record<string, string>> | undefined;
  return (api) => (made ??= make(api));
}
