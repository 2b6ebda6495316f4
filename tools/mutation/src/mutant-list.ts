import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseSync } from '@swc/core';
import { parse } from 'yaml';

/** One small change of the product that some test must notice. Paths are from the workspace's root. */
export interface Mutant {
  /** Unique in its list, kebab-case: what a reader sees. */
  id: string;
  file: string;
  /** The text to take out; it stands in the file exactly once. */
  find: string;
  replace: string;
  /** Specs of which one must fail. */
  specs: string[];
  /** Name of the tests to run there, a regular expression; all if absent. */
  test?: string;
  /** The specs run built code, so the workspace is built first. */
  isBuilt: boolean;
  /** Why it may survive. A mutant without this that no test notices fails the run. */
  survives?: string;
}

/** The mutants of one library: `mutants.yaml` beside its package.json. */
export interface MutantList {
  /** Folder of the library from the workspace's root, such as `libs/platform/operations`. */
  library: string;
  mutants: Mutant[];
}

interface Written {
  /** Run if a mutant names none; from the workspace's root. */
  specs?: string[];
  mutants: {
    id: string;
    /** From the library's folder. */
    file: string;
    find: string;
    replace?: string;
    specs?: string[];
    test?: string;
    built?: boolean;
    survives?: string;
  }[];
}

const FILE = 'mutants.yaml';
const SKIPPED = new Set(['node_modules', 'dist', 'src', 'test', '.git', '.nx']);

/** Every list of the workspace, by library. */
export async function readLists(root: string): Promise<MutantList[]> {
  const folders = await libraries(root, '');
  return folders.filter((folder) => existsSync(path.join(root, folder, FILE))).map((folder) => readList(root, folder));
}

function readList(root: string, library: string): MutantList {
  const written = parse(readFileSync(path.join(root, library, FILE), 'utf8')) as Written;
  const mutants = written.mutants.map((one) => ({
    id: one.id,
    file: path.posix.join(library, one.file),
    find: one.find,
    replace: one.replace ?? '',
    specs: one.specs ?? written.specs ?? [],
    test: one.test,
    isBuilt: one.built ?? false,
    survives: one.survives,
  }));
  return { library, mutants };
}

async function libraries(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true });
  if (folder !== '' && entries.some((entry) => entry.name === 'package.json')) return [folder];
  const inner = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
  const found = await Promise.all(inner.map((entry) => libraries(root, path.posix.join(folder, entry.name))));
  return found.flat().sort();
}

/** What keeps a mutant from being tried: the code has moved on. Empty if nothing does. */
export function problemsOf(root: string, { mutants, library }: MutantList): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  for (const mutant of mutants) {
    const complain = (what: string): void => void problems.push(`${library} ${mutant.id}: ${what}`);
    if (ids.has(mutant.id)) complain('stands twice');
    ids.add(mutant.id);
    const file = path.join(root, mutant.file);
    const parts = existsSync(file) ? readFileSync(file, 'utf8').split(mutant.find) : undefined;
    if (!parts) complain(`${mutant.file} does not exist`);
    else if (parts.length !== 2) complain(`its text stands ${parts.length - 1} times in ${mutant.file}`);
    else if (!isTypeScript(parts.join(mutant.replace)))
      complain('what it makes is no TypeScript, which any test would notice');
    if (mutant.find === mutant.replace) complain('changes nothing');
    if (mutant.specs.length === 0) complain('names no spec');
    for (const spec of mutant.specs) if (!existsSync(path.join(root, spec))) complain(`${spec} does not exist`);
  }
  return problems;
}

function isTypeScript(text: string): boolean {
  try {
    parseSync(text, { syntax: 'typescript', decorators: true });
    return true;
  } catch {
    return false;
  }
}

/** The sentence that a library's README carries, so that the score is read where the library is. */
export function scoreOf({ mutants }: MutantList): string {
  const survivors = mutants.filter((mutant) => mutant.survives !== undefined).length;
  const caught = mutants.length - survivors;
  return `${caught} of ${mutants.length} listed mutants are caught`;
}
