// Makes dist/slipway.js of what the compiler wrote: one file that needs nothing beside Node, and whose parts are run when they are first asked for.
// `npm run build` calls it after the compiler. Plain JavaScript, as it runs before anything is built.
import { build } from 'esbuild';
import path from 'node:path';

const HERE = import.meta.dirname;

export const bundle = () =>
  build({
    entryPoints: [path.join(HERE, 'dist', 'main.js')],
    outfile: path.join(HERE, 'dist', 'slipway.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    // What is never run is read all the same. Names stay, for those who read a stack.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'error',
    // commander and yaml are CommonJS, and ask for modules of Node by `require`.
    banner: {
      js: `import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);`,
    },
  });

if (process.argv[1] === import.meta.filename) await bundle();
