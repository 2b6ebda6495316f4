#!/usr/bin/env node
// npm links a command only if its file already exists, and the bundle exists only after the build.
import { existsSync } from 'node:fs';

const bundle = new URL('../dist/slipway.js', import.meta.url);
if (existsSync(bundle)) await import(bundle.href);
else {
  process.stderr.write('slipway is not built yet: npm run build\n');
  process.exitCode = 1;
}
