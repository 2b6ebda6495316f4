import { readImports } from './imports.mjs';
import { unusedReasons } from './workspace.mjs';

const FEWEST_LINES = 40;

/** Roles of the area template: a reader looks for these files, however short they are. */
const ROLE =
  /\.(?:module|controller|entity|errors|query|dto|events|port)\.tsx?$|\/(?:index|main)\.tsx?$|\/migrations\//;

/**
 * Short files with one importer that stay separate: a file, or a folder of such files that ends in `/`, and the reason.
 */
export const REASONS = {
  'libs/sdk/src/resources/': 'one file for each resource of the client; `slipway.ts` lists them',
  'libs/targets/process/src/templates/builtin/': 'one file for each engine; `index.ts` lists them',
  'apps/api/src/create-api.ts': 'tests make the api without the process that `main.ts` is',
  'libs/areas/audit/src/s3-anchor.ts': 'loaded on demand, because the AWS client is large',
  'libs/areas/instances/src/lifecycle/workload-history.ts': 'a provider, which its module only lists',
  'libs/registry/src/areas.ts': 'the list of areas that tools, the generator and lint rules read',
  'libs/registry/src/on-demand.ts':
    'a subject of its own, with its own spec: how the code of a kind is loaded when a file names it',
};

/** `form-layouts.spec.ts` of the console reads every file with such a name. */
const FORM_LAYOUT = /^apps\/console\/src\/.+-layout\.ts$/;

/** A short file that only one other file reads makes the reader open two files to understand one thing. */
export default {
  name: 'small-file',
  says: `a product file of under ${FEWEST_LINES} lines with exactly one importer`,
  find(workspace, reasons = REASONS) {
    const { importers, started, entries } = readImports(workspace);
    const used = new Set();
    const found = smallFiles(workspace).flatMap((file) => {
      const [importer, ...others] = importers.get(file) ?? [];
      if (!importer || others.length > 0 || ROLE.test(file) || started.has(file) || entries.has(file)) return [];
      if (isTestedApart(workspace, file, importer)) return [];
      const reason = Object.keys(reasons).find((key) => (key.endsWith('/') ? file.startsWith(key) : file === key));
      if (reason) {
        used.add(reason);
        return [];
      }
      const lines = workspace.lines(file);
      const target = /\/index\.tsx?$/.test(importer)
        ? `only ${importer} exports it, and no product file imports it: delete the export, or merge it with the file it is read with`
        : `merge it with ${importer}, its only importer`;
      return [{ file, line: 1, text: `${lines} lines: ${target}` }];
    });
    return [...found, ...unusedReasons('small-file', reasons, used)];
  },
};

/** Jest runs `.ts` and not `.tsx`, so code with a spec is separate from the component that uses it. */
function isTestedApart(workspace, file, importer) {
  if (!file.endsWith('.ts') || !importer.endsWith('.tsx')) return false;
  return FORM_LAYOUT.test(file) || workspace.has(file.replace(/\.ts$/, '.spec.ts'));
}

/** The product files of under 40 lines, including those with a role of the area template. */
export function smallFiles(workspace) {
  return workspace.products.filter((file) => workspace.lines(file) < FEWEST_LINES);
}
