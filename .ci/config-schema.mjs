import { writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { operatorSchema } from '../libs/platform/config/dist/index.js';
import { TARGETS } from '../libs/registry/dist/targets.js';

// Writes the JSON schema of slipway.config.yaml, for editors, as it is committed: `npm run config-schema`.
await Promise.all(TARGETS.map((kind) => kind.load?.()));
const file = new URL('../libs/platform/config/slipway.config.schema.json', import.meta.url);
await writeFile(file, await format(JSON.stringify(operatorSchema(TARGETS)), { parser: 'json', printWidth: 120 }));
