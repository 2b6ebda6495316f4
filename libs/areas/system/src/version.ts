import { createRequire } from 'node:module';

/** Of the product: the workspace's manifest, which a release writes and every image has. */
export const VERSION = (createRequire(import.meta.url)('../../../../package.json') as { version: string }).version;
