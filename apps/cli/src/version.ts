import { createRequire } from 'node:module';

/** Of the package beside the bundle, which a release writes. */
export const VERSION = (createRequire(import.meta.url)('../package.json') as { version: string }).version;
