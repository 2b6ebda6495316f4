import type { PageRequest } from '@slipway/platform-http';
import { LessThan } from 'typeorm';

/** Finds a page of a tenant's rows, and one row more, which tells `pageOf` that there is a next page. */
export function newestFirst(tenantId: string, { limit, cursor }: PageRequest) {
  const last = cursor?.[0] as string | undefined;
  return {
    where: { tenant_id: tenantId, ...(last === undefined ? {} : { id: LessThan(last) }) },
    order: { id: 'DESC' },
    take: limit + 1,
  } as const;
}
