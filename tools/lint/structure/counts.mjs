import { fullFolders } from './full-folder.mjs';
import { isNoNoun } from './participle-types.mjs';
import smallFile, { smallFiles } from './small-file.mjs';
import { duplicateTypes } from './unique-type-names.mjs';
import words from './words.mjs';
import { typesIn } from './workspace.mjs';

const PACKAGE = /^(?:apps|libs|tools)\/.*package\.json$/;

/** The metrics of a restructuring, one line each. */
export function counts(workspace) {
  const { products } = workspace;
  const under = (...folders) => products.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)));
  const lengths = products.map((file) => ({ file, lines: workspace.lines(file) })).sort((a, b) => a.lines - b.lines);
  const middle = lengths[lengths.length >> 1];
  const longest = lengths.at(-1);
  const folders = fullFolders(products).filter(({ folder }) => !isMigration(`${folder}/`));
  const tests = fullFolders(workspace.sources.filter((file) => /\/test\//.test(file)));
  const noNouns = workspace.sources
    .flatMap((file) => typesIn(workspace.text(file)))
    .filter(({ name }) => isNoNoun(name));
  const packages = workspace.files.filter((file) => PACKAGE.test(file) && !file.includes('/files/'));
  const named = words.find(workspace, {});
  const exported = duplicateTypes(workspace);
  return [
    ['product files', products.length],
    ['  in apps and libs', under('apps', 'libs').length],
    ['  in apps and libs, without migrations', under('apps', 'libs').filter((file) => !isMigration(file)).length],
    ['median lines of a product file', middle.lines],
    [`longest product file (${longest.file})`, longest.lines],
    ['packages', packages.length],
    ['folders over 25 product files', folders.length],
    ...folders.map(({ folder, count }) => [`  ${folder}`, count]),
    ['test folders over 25 files', tests.length],
    ...tests.map(({ folder, count }) => [`  ${folder}`, count]),
    ['product files under 40 lines', smallFiles(workspace).length],
    ['  of them with one importer and no role or entry of the area template', smallFile.find(workspace, {}).length],
    ['type names that two files export', exported.length],
    ['type names that two files declare, exported or not', duplicateTypes(workspace, () => true).length],
    ['type names that are no noun', new Set(noNouns.map(({ name }) => name)).size],
    ['  declarations of them', noNouns.length],
    ...['lane', 'turn', 'room', 'place'].map((word) => [
      `names with ${word}`,
      named.filter((one) => one.word === word).length,
    ]),
  ];
}

const isMigration = (file) => file.includes('/migrations/');
