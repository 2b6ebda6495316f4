import { LessThan } from 'typeorm';

/** Of a page, as far as a table needs it. */
interface Page {
  limit: number;
  /** Its first part is the id of the last row that was shown. */
  cursor?: readonly unknown[];
}

/**
 * How `find` gets a page of a tenant's rows, the newest first: ids sort by time. One row more than the page holds tells `pageOf` that
 * there is a next one.
 * @param also further conditions
 */
export function newestFirst<Where extends object = object>(tenantId: string, { limit, cursor }: Page, also?: Where) {
  const where = { tenant_id: tenantId, ...(also as Where), ...(cursor && { id: LessThan(String(cursor[0])) }) };
  return { where, order: { id: 'DESC' as const }, take: limit + 1 };
}
