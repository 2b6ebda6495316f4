import path from 'node:path';
import { counts } from './structure/counts.mjs';
import designCodes, { PENDING as DESIGN_CODES } from './structure/design-codes.mjs';
import fullFolder, { PENDING as FULL_FOLDER } from './structure/full-folder.mjs';
import participleTypes, { PENDING as PARTICIPLE_TYPES } from './structure/participle-types.mjs';
import smallFile, { PENDING as SMALL_FILE } from './structure/small-file.mjs';
import uniqueTypeNames, { PENDING as UNIQUE_TYPE_NAMES } from './structure/unique-type-names.mjs';
import words, { PENDING as WORDS } from './structure/words.mjs';
import { readWorkspace } from './structure/workspace.mjs';

/** Checks of the whole workspace: what the lint of one file cannot see. */
export const checks = [
  { ...smallFile, pending: SMALL_FILE },
  { ...fullFolder, pending: FULL_FOLDER },
  { ...uniqueTypeNames, pending: UNIQUE_TYPE_NAMES },
  { ...participleTypes, pending: PARTICIPLE_TYPES },
  { ...words, pending: WORDS },
  { ...designCodes, pending: DESIGN_CODES },
];

/** What each check finds, by the check's name. `isPending` marks what lies in a folder that is not clean yet. */
export function findingsIn(workspace) {
  return Object.fromEntries(
    checks.map(({ name, find, pending }) => [
      name,
      find(workspace).map((one) => ({
        ...one,
        isPending: pending.some((folder) => one.file === folder || one.file.startsWith(`${folder}/`)),
      })),
    ]),
  );
}

export { counts, readWorkspace };
export { workspaceOf } from './structure/workspace.mjs';

const HELP = `node tools/lint/structure.mjs [--list [check]] [--pending] [--counts] [--root DIR]
  (nothing)       findings outside the folders that PENDING lists; exits 1 if there are any
  --list [check]  every finding, of one check or of all
  --pending       the projects that still have findings, for the PENDING of each check
  --counts        the sizes and numbers of the workspace
  --root DIR      another checkout
`;

function main(args) {
  const optionOf = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
  const root = path.resolve(optionOf('--root') ?? path.resolve(import.meta.dirname, '../..'));
  const print = (line) => process.stdout.write(`${line}\n`);
  if (args.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const workspace = readWorkspace(root);
  if (args.includes('--counts')) {
    for (const [what, count] of counts(workspace)) print(`${String(count).padStart(6)}  ${what}`);
    return;
  }
  const isList = args.includes('--list');
  const only = checks.find(({ name }) => name === optionOf('--list'))?.name;
  let isClean = true;
  for (const [name, found] of Object.entries(findingsIn(workspace))) {
    if (only && only !== name) continue;
    if (args.includes('--pending')) {
      print(`${name}: ${JSON.stringify([...new Set(found.map(({ file }) => projectOf(file)))].sort())}`);
      continue;
    }
    const shown = isList ? found : found.filter(({ isPending }) => !isPending);
    for (const { file, line, text } of shown) print(`${file}:${line} ${name}: ${text}`);
    print(`${name}: ${found.length} found, ${found.filter(({ isPending }) => isPending).length} of them pending`);
    if (found.some(({ isPending }) => !isPending)) isClean = false;
  }
  if (!isClean && !isList) process.exitCode = 1;
}

const projectOf = (file) =>
  /^(?:apps\/[^/]+|tools\/[^/]+|libs\/(?:areas|platform|targets)\/[^/]+|libs\/[^/]+|[^/]+)/.exec(file)[0];

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
