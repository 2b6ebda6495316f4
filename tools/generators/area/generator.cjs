const path = require('node:path');
const { formatFiles, generateFiles, logger } = require('@nx/devkit');
const { singularOf, spellings } = require('../naming.cjs');
const { addReference, addToLock, link } = require('../workspace-files.cjs');

const REGISTRY = 'libs/registry/src/areas.ts';
const TAGS = 'libs/platform/http/src/openapi/tags.ts';

/** `nx g area alerts` generates a library that builds, lints and passes its tests, and that api and worker run. */
module.exports = async function area(tree, options) {
  const { name } = options;
  const root = `libs/areas/${name}`;
  if (tree.exists(root)) throw new Error(`${root} already exists`);
  const many = spellings(name);
  const one = spellings(options.singular ?? singularOf(name));
  const timestamp = nextTimestamp(tree);

  generateFiles(tree, path.join(__dirname, 'files'), root, {
    many,
    one,
    plural: many.kebab,
    singular: one.kebab,
    timestamp,
    tag: tagOf(tree, options.tag, many.title),
    idPrefix: one.snake.replaceAll('_', '').slice(0, 3),
    tmpl: '',
  });
  // Added at the end: it may use the ports of all others, and none of them needs it.
  tree.write(
    REGISTRY,
    `${tree.read(REGISTRY, 'utf8').trimEnd()}\nexport * as ${many.camel} from '@slipway/area-${name}';\n`,
  );
  addReference(tree, 'libs/registry/tsconfig.lib.json', `../areas/${name}/tsconfig.lib.json`);
  addReference(tree, 'tsconfig.json', `./${root}`);
  addToLock(tree, { name: `@slipway/area-${name}`, version: '0.1.0', root });
  await formatFiles(tree);

  return () => {
    link(tree.root, `@slipway/area-${name}`, root);
    logger.info(`\nNext: npx nx run-many -t build lint test -p @slipway/area-${name}`);
  };
};

/** After every existing migration, even if the clock of this machine is slow. */
function nextTimestamp(tree) {
  const used = tree
    .children('libs/areas')
    .flatMap((name) => tree.children(`libs/areas/${name}/src/migrations`))
    .map((file) => Number.parseInt(file, 10));
  return Math.max(Date.now(), ...used.filter(Number.isFinite).map((timestamp) => timestamp + 1));
}

/**
 * The specification has a fixed list of tags. A new area gets the given tag, or the one with its own name. If there is
 * none, it gets `System`, with a warning.
 * @throws Error if the given tag is not in the list
 */
function tagOf(tree, wanted, fallback) {
  const known = [...tree.read(TAGS, 'utf8').matchAll(/^ {2}(?:'([^']+)'|(\w+)): '/gm)].map(
    (match) => match[1] ?? match[2],
  );
  const found = known.find((tag) => tag.toLowerCase() === (wanted ?? fallback).toLowerCase());
  if (found) return found;
  if (wanted) throw new Error(`--tag must be one of: ${known.join(', ')}`);
  logger.warn(
    `The OpenAPI document has no tag ${fallback}. The routes get the tag System until you set another one with --tag or in the controller.`,
  );
  return 'System';
}
