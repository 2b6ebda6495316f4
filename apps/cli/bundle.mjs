// Bundles the compiler's output into dist/slipway.js: one file that needs only Node, and whose parts run on first use.
// `npm run build` calls this after the compiler. It is plain JavaScript, because it runs before anything is built.
import { build } from 'esbuild';
import path from 'node:path';

const HERE = import.meta.dirname;

export const bundle = () =>
  build({
    entryPoints: [path.join(HERE, 'dist', 'main.js')],
    outfile: path.join(HERE, 'dist', 'slipway.js'),
    absWorkingDir: path.join(HERE, '../..'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    // Node parses code even if it never runs, so the bundle is minified. Names stay readable for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // Names the packages in the bundle, for their licences.
    metafile: true,
    logLevel: 'error',
    // commander and yaml are CommonJS and load Node's modules with `require`.
    banner: {
      js: `import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);`,
    },
  });

if (process.argv[1] === import.meta.filename) await bundle();
