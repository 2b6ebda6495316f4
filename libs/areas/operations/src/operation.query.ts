import { lookup } from '@slipway/platform-database';

export const STREAM = lookup('operation-stream', `select stream from operations where id = $1 and tenant_id = $2`);
