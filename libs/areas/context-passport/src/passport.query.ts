import { PASSPORTS_OF_TENANT } from '@slipway/dataplane';
import { prepared, withinBytes } from '@slipway/platform-database';

/** Gateways write the table, so its owner has the columns and conditions. A page is bounded here. */
export const LIST_PASSPORTS = prepared(
  'context-passports-list',
  `select page.* from ${withinBytes('page', PASSPORTS_OF_TENANT, '$5', { subject: 'text', deployment_name: 'text' })} order by page.page_row`,
);
