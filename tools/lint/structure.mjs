import path from 'node:path';
import { counts } from './structure/counts.mjs';
import designCodes from './structure/design-codes.mjs';
import fullFolder from './structure/full-folder.mjs';
import pages from './structure/pages.mjs';
import participleTypes from './structure/participle-types.mjs';
import smallFile from './structure/small-file.mjs';
import uniqueTypeNames from './structure/unique-type-names.mjs';
import words from './structure/words.mjs';
import { readWorkspace } from './structure/workspace.mjs';

/** Checks of the whole workspace, which the lint of a single file cannot do. */
export const checks = [smallFile, fullFolder, uniqueTypeNames, participleTypes, words, designCodes, pages];

/** The findings of each check, by the name of the check. */
export function findingsIn(workspace) {
  return Object.fromEntries(checks.map(({ name, find }) => [name, find(workspace)]));
}

export { counts, readWorkspace };
export { workspaceOf } from './structure/workspace.mjs';

const HELP = `node tools/lint/structure.mjs [--list [check]] [--counts] [--root DIR]
  (nothing)       every finding; exits 1 if there are any
  --list [check]  the findings of one check or of all; exits 0
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
    for (const { file, line, text } of found) print(`${file}:${line} ${name}: ${text}`);
    print(`${name}: ${found.length} found`);
    if (found.length > 0) isClean = false;
  }
  if (!isClean && !isList) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
