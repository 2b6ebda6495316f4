/**
 * The connection that this lib needs. `Tx` of platform-database is one, and so is the gateway's own pool, which must
 * not load Nest or TypeORM. Statements are named: each is parsed once per connection.
 */
export interface QueryClient {
  query<R = Record<string, unknown>>(statement: NamedSql, values?: unknown[]): Promise<R[]>;
}

export interface NamedSql {
  readonly name: string;
  readonly text: string;
}
