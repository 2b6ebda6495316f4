const path = require('node:path');
const { formatFiles, generateFiles, logger } = require('@nx/devkit');
const { spellings } = require('../naming.cjs');
const { addReference, addToLock, link } = require('../workspace-files.cjs');

const REGISTRY = 'libs/registry/src/targets.ts';

/**
 * `nx g target slurm` generates a kind of execution target that passes the conformance test, as the start of a real
 * one.
 */
module.exports = async function target(tree, { kind }) {
  const root = `libs/targets/${kind}`;
  if (tree.exists(root)) throw new Error(`${root} already exists`);
  const one = spellings(kind);

  generateFiles(tree, path.join(__dirname, 'files'), root, { one, kind, tmpl: '' });
  tree.write(REGISTRY, listed(tree.read(REGISTRY, 'utf8'), `${one.camel}Target`, `@slipway/target-${kind}`));
  addReference(tree, 'libs/registry/tsconfig.lib.json', `../targets/${kind}/tsconfig.lib.json`);
  addReference(tree, 'tsconfig.json', `./${root}`);
  addToLock(tree, { name: `@slipway/target-${kind}`, version: '0.1.0', root });
  await formatFiles(tree);

  return () => {
    link(tree.root, `@slipway/target-${kind}`, root);
    logger.info(`\nNext: npx nx run-many -t build lint test -p @slipway/target-${kind}`);
  };
};

/** The text of the registry with one more import and one more member of its list. */
function listed(text, name, from) {
  const imports = [...text.matchAll(/^import .*;$/gm)];
  const end = imports.at(-1).index + imports.at(-1)[0].length;
  const withImport = `${text.slice(0, end)}\nimport { ${name} } from '${from}';${text.slice(end)}`;
  return withImport.replace(/\[([^[\]]*)\];/, (_all, members) => `[${members.trim().replace(/,$/, '')}, ${name}];`);
}
