import { prepared } from '@slipway/platform-database';

export const STREAM = prepared('operation-stream', `select stream from operations where id = $1 and tenant_id = $2`);
