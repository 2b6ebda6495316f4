import pg, { type ClientBase, type QueryResult } from 'pg';
import type { Statement } from './statement.js';

/**
 * Sends a statement at once and waits for its answer. pg copies a query that is given as an object of settings property by property;
 * one that was made is sent as it is.
 */
export async function send(client: ClientBase, statement: Statement | string, values: unknown[]): Promise<QueryResult> {
  const isNamed = typeof statement !== 'string';
  const query = new pg.Query(isNamed ? statement.text : statement, values);
  try {
    return await new Promise<QueryResult>((resolve, reject) => {
      const callback = (error: Error | null, result: QueryResult) => (error ? reject(error) : resolve(result));
      client.query(Object.assign(query, { name: isNamed ? statement.name : undefined, callback }));
    });
  } catch (error) {
    // Where it was asked, not where the answer was read.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}
