#!/usr/bin/env node
// npm links a command only where its file is there already, and the bundle is there once it is built.
import { existsSync } from 'node:fs';

const bundle = new URL('../dist/slipway.js', import.meta.url);
if (existsSync(bundle)) await import(bundle.href);
else {
  process.stderr.write('slipway is not built yet: npm run build\n');
  process.exitCode = 1;
}
