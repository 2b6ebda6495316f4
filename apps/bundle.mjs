// Each program of an app as one file, and a few for what it loads on demand: Node starts in half the time that it takes to find, read and
// compile 2,000 modules. `npm run build` calls it after the compiler, and so do the images:  node apps/bundle.mjs [app…]
// Plain JavaScript, as it runs before anything is built.
import { build } from 'esbuild';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const APPS = import.meta.dirname;
/** What people and launchers start, by app. */
const PROGRAMS = {
  api: ['main', 'migrate', 'backup', 'restore', 'rotate-secret-key', 'audit-verify'],
  worker: ['main'],
  gateway: ['main'],
};

/** Nest asks for these only where an application uses them, and ours does not. */
const ABSENT = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-express',
  '@fastify/multipart',
  '@fastify/view',
  'class-transformer/storage',
];

/** These look for a neighbour by a `require` of their own making, which no bundler sees: they would load a second copy of it. */
const MADE_REQUIRE = 'const require = createRequire(import.meta.url);\n';
const seenRequires = {
  name: 'seen requires',
  setup({ onLoad }) {
    onLoad({ filter: /@nestjs[\\/](typeorm|mapped-types)[\\/].*\.js$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      return text.includes(MADE_REQUIRE) ? { contents: text.replace(MADE_REQUIRE, '') } : undefined;
    });
  },
};

/** Reads what the compiler wrote to `dist/modules` of an app, and writes its programs to `dist`. */
export async function bundle(app) {
  const dist = path.join(APPS, app, 'dist');
  for (const file of readdirSync(dist)) if (file.endsWith('.js')) rmSync(path.join(dist, file));
  return build({
    entryPoints: PROGRAMS[app].map((program) => path.join(dist, 'modules', `${program}.js`)),
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Nest and TypeORM go by the names of classes.
    keepNames: true,
    chunkNames: 'part-[hash]',
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    // Decorators need it before anything else, and parts come in no promised order.
    banner: {
      js: `import 'reflect-metadata';\nimport { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);`,
    },
    external: ['reflect-metadata', ...ABSENT.flatMap((name) => [name, `${name}/*`])],
    plugins: [seenRequires],
  });
}

export const bundleAll = (apps = Object.keys(PROGRAMS)) => Promise.all(apps.map(bundle));

if (process.argv[1] === import.meta.filename)
  await bundleAll(process.argv.length > 2 ? process.argv.slice(2) : undefined);
