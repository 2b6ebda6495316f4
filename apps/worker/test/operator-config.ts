import { tmpdir } from 'node:os';
import { loadConfig, type OperatorConfig } from '@slipway/platform-config';
import { TARGETS } from '@slipway/registry/targets';

/** The targets that exist if the operator wrote no file. */
export function operatorConfig(): OperatorConfig {
  const env = { DATABASE_URL: 'postgres://unused', SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  return loadConfig(env, tmpdir(), { targets: TARGETS }).operator;
}
