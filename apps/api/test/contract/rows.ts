import { DEPLOYMENT_ROWS } from './deployments-rows.js';
import { IDENTITY_ROWS } from './identity-rows.js';
import { MODEL_API_ROWS } from './model-apis-rows.js';
import { OPTIMIZATION_ROWS } from './optimization-rows.js';
import type { Rows } from './row.js';
import { SANDBOX_ROWS } from './sandboxes-rows.js';
import { WEBHOOK_ROWS } from './webhooks-rows.js';

/** One row per operation of the OpenAPI document. An operation without a row fails the contract test and the fuzz test. */
export const ROWS: Rows = {
  ...DEPLOYMENT_ROWS,
  ...IDENTITY_ROWS,
  ...OPTIMIZATION_ROWS,
  ...SANDBOX_ROWS,
  ...MODEL_API_ROWS,
  ...WEBHOOK_ROWS,
};
