import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseSync } from '@swc/core';
import { parse } from 'yaml';

/** One small change of the product that some test must notice. Paths are relative to the root of the workspace. */
export interface Mutant {
  /** Unique in its list, kebab-case. */
  id: string;
  /** The file that exports the mutant's symbol. */
  file: string;
  /** The text to remove; the file contains it exactly once. */
  find: string;
  replace: string;
  /** Specs, at least one of which must fail. */
  specs: string[];
  /** Name of the tests to run in these specs, as a regular expression; all tests by default. */
  test?: string;
  /** Whether the specs run built code, so that the workspace must be built first. */
  isBuilt: boolean;
  /** Why the mutant may survive. Without a reason, a mutant that no test notices fails the run. */
  survives?: string;
}

/** The mutants of one library: `mutants.yaml` next to its package.json. */
export interface MutantList {
  /** Folder of the library from the workspace's root, such as `libs/platform/durable/src/operations`. */
  library: string;
  mutants: Mutant[];
}

export interface CheckedList extends MutantList {
  /** Why mutants cannot be tried: the code has changed since they were written. */
  problems: string[];
}

interface ListFile {
  mutants: {
    id: string;
    /** An exported name, so that a file can move without a change to its mutants. */
    symbol: string;
    find: string;
    replace?: string;
    /** Names of spec files without `.spec.ts`. */
    specs?: string[];
    test?: string;
    built?: boolean;
    survives?: string;
  }[];
}

const FILE = 'mutants.yaml';
const SKIPPED = new Set(['node_modules', 'dist', 'test-output', '.git', '.nx']);
const EXPORT = /^export (?:abstract )?(?:async )?(?:class|function\*?|const|let|interface|type|enum) (\w+)/gm;

/** Every list of the workspace, by library. */
export async function readLists(root: string): Promise<CheckedList[]> {
  const files = await filesBelow(root, ['apps', 'libs', 'tools']);
  const sources = new Sources(root, files);
  return files
    .filter((file) => path.posix.basename(file) === FILE)
    .sort()
    .map((file) => readList(root, path.posix.dirname(file), sources));
}

function readList(root: string, library: string, sources: Sources): CheckedList {
  const { mutants: written } = parse(readFileSync(path.join(root, library, FILE), 'utf8')) as ListFile;
  const problems: string[] = [];
  const mutants = written.flatMap((one): Mutant[] => {
    const files = sources.exporting(one.symbol, library);
    const specs = (one.specs ?? []).map((name) => sources.specsNamed(name));
    const found = problems.length;
    const complain = (what: string): void => void problems.push(`${library} ${one.id}: ${what}`);
    if (files.length !== 1) complain(`${files.length} files instead of one export ${one.symbol}${listed(files)}`);
    for (const [index, some] of specs.entries())
      if (some.length !== 1)
        complain(`${some.length} specs instead of one have the name ${one.specs?.[index]}${listed(some)}`);
    if (problems.length > found) return [];
    return [
      {
        id: one.id,
        file: files.join(),
        find: one.find,
        replace: one.replace ?? '',
        specs: specs.flat(),
        test: one.test,
        isBuilt: one.built ?? false,
        survives: one.survives,
      },
    ];
  });
  const list = { library, mutants, problems };
  problems.push(...problemsOf(root, list));
  return list;
}

const listed = (files: readonly string[]) => (files.length === 0 ? '' : `: ${files.join(', ')}`);

/** Finds the files that export a symbol, and the specs. */
class Sources {
  private readonly exporters = new Map<string, string[]>();
  private readonly specs: string[];

  constructor(root: string, files: readonly string[]) {
    this.specs = files.filter((file) => file.endsWith('.spec.ts'));
    for (const file of files) {
      if (!/\.tsx?$/.test(file) || /\.spec\.tsx?$/.test(file)) continue;
      for (const [, symbol = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(EXPORT))
        this.exporters.set(symbol, [...(this.exporters.get(symbol) ?? []), file]);
    }
  }

  /** Files that export the symbol. If the library itself exports it, only files of the library. */
  exporting(symbol: string, library: string): string[] {
    const all = this.exporters.get(symbol) ?? [];
    const own = all.filter((file) => file.startsWith(`${library}/`));
    return own.length > 0 ? own : all;
  }

  /** @param name may start with folders if the name of the file is not unique */
  specsNamed(name: string): string[] {
    return this.specs.filter((file) => file.endsWith(`/${name}.spec.ts`));
  }
}

async function filesBelow(root: string, folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => []);
      const inner = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
      const files = entries.filter((entry) => entry.isFile()).map((entry) => path.posix.join(folder, entry.name));
      return [
        ...files,
        ...(await filesBelow(
          root,
          inner.map((entry) => path.posix.join(folder, entry.name)),
        )),
      ];
    }),
  );
  return found.flat();
}

/** Returns why mutants of the list cannot be tried. */
export function problemsOf(root: string, { mutants, library }: MutantList): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  for (const mutant of mutants) {
    const complain = (what: string): void => void problems.push(`${library} ${mutant.id}: ${what}`);
    if (ids.has(mutant.id)) complain('is listed twice');
    ids.add(mutant.id);
    const parts = readFileSync(path.join(root, mutant.file), 'utf8').split(mutant.find);
    if (parts.length !== 2) complain(`${mutant.file} contains its text ${parts.length - 1} times instead of once`);
    else if (!isTypeScript(parts.join(mutant.replace)))
      complain('its change is not valid TypeScript, so every test would fail');
    if (mutant.find === mutant.replace) complain('changes nothing');
    if (mutant.specs.length === 0) complain('names no spec');
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
