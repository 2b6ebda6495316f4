import { LIVE_STATUSES, sqlList } from '@slipway/contracts';

/** SQL: whether the operation whose id is in a column has not ended; false where there is none. */
export const isLiveOperation = (column: string): string =>
  `exists (select from operations where operations.id = ${column} and operations.status in (${sqlList(LIVE_STATUSES)}))`;
