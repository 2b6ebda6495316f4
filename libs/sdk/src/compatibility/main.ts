import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { check } from './check.js';
import type { OpenApi } from './document.js';

// `node libs/sdk/dist/compatibility/main.js <document that the api serves>`: exit 1 prints why a merge has to wait.
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const file = process.argv[2];
if (file === undefined) throw new Error('Usage: main.js FILE. FILE is the document that .ci/openapi.mjs wrote.');

const { passed, lines } = check(root, JSON.parse(readFileSync(file, 'utf8')) as OpenApi);
console.log(lines.join('\n'));
process.exitCode = passed ? 0 : 1;
