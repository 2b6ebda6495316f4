const path = require('node:path');
const { formatFiles, generateFiles, logger } = require('@nx/devkit');
const { addReference } = require('../workspace-files.cjs');
const { spellings } = require('../naming.cjs');

/**
 * `nx g operation alerts escalation` generates its definition and its property tests, and adds it to the module of the
 * area.
 */
module.exports = async function operation(tree, { area, name }) {
  const root = `libs/areas/${area}`;
  const module = tree.children(`${root}/src`).find((file) => file.endsWith('.module.ts'));
  if (!module) throw new Error(`${root} is not an area. Run nx g area ${area} first.`);
  const one = spellings(name);
  const className = `${one.pascal}Operation`;
  if (tree.exists(`${root}/src/${name}.operation.ts`))
    throw new Error(`${root}/src/${name}.operation.ts already exists`);

  generateFiles(tree, path.join(__dirname, 'files'), `${root}/src`, { one, singular: one.kebab, tmpl: '' });
  const file = `${root}/src/${module}`;
  tree.write(file, provided(tree.read(file, 'utf8'), className, `./${name}.operation.js`));
  addReference(tree, `${root}/tsconfig.lib.json`, '../../platform/durable/tsconfig.lib.json');
  await formatFiles(tree);

  return () => {
    logger.info(
      `\nStart it in a service: \`OperationRequests.accept(${one.constant}, request, change)\`. Your \`change\` locks, checks and writes, and returns the input and the steps.`,
    );
  };
};

/** The text of the module with one more import and one more provider. */
function provided(text, className, from) {
  const imports = [...text.matchAll(/^import .*;$/gm)];
  const last = imports.at(-1);
  if (!last || !/providers:\s*\[/.test(text)) throw new Error(`The module has no providers. Add ${className} by hand.`);
  const end = last.index + last[0].length;
  const withImport = `${text.slice(0, end)}\nimport { ${className} } from '${from}';${text.slice(end)}`;
  return withImport.replace(/providers:\s*\[\s*/, (opening) => `${opening}${className}, `);
}
