import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  name: string;
  exports?: Record<string, { '@slipway/source'?: string } | string>;
  workspaces?: string[];
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
const TYPES = /^\s*(?:import|export) type [^;]*;/gm;

/** The source files of the workspace, by their paths from the root. Each is read once: the processes share most. */
export class SourceTree {
  private readonly packages: Map<string, string>;
  private readonly texts = new Map<string, string>();

  constructor(private readonly root: string) {
    this.packages = packagesOf(root);
  }

  textOf(file: string): string {
    const text = this.texts.get(file) ?? readFileSync(path.join(this.root, file), 'utf8');
    this.texts.set(file, text);
    return text;
  }

  /**
   * The entries, and the files that they import, directly or through others. Types are left out: they are gone when the
   * code runs.
   */
  closureOf(entries: readonly string[]): string[] {
    const seen = new Set<string>();
    const open = [...entries];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      for (const [, name] of this.textOf(file).replaceAll(TYPES, '').matchAll(IMPORT)) {
        const found = name!.startsWith('.') ? besides(this.root, file, name!) : this.packages.get(name!);
        if (found !== undefined) open.push(found);
      }
    }
    return [...seen];
  }
}

function besides(root: string, file: string, name: string): string | undefined {
  const found = path.join(path.dirname(file), name.replace(/\.js$/, '.ts'));
  return existsSync(path.join(root, found)) ? found : undefined;
}

/** The source file of each name that a package of the workspace exports. */
function packagesOf(root: string): Map<string, string> {
  const { workspaces = [] } = manifestIn(root, '.');
  const folders = workspaces
    .flatMap((pattern) => foldersLike(root, pattern.split('/')))
    .filter((folder) => existsSync(path.join(root, folder, 'package.json')));
  return new Map(
    folders.flatMap((folder) => {
      const { name, exports: named = {} } = manifestIn(root, folder);
      return Object.entries(named).flatMap(([subpath, target]): [string, string][] => {
        const source = typeof target === 'string' ? undefined : target['@slipway/source'];
        return source === undefined ? [] : [[path.posix.join(name, subpath), path.join(folder, source)]];
      });
    }),
  );
}

const manifestIn = (root: string, folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** `*` is any folder. */
function foldersLike(root: string, [first, ...rest]: string[], parent = '.'): string[] {
  if (first === undefined) return [parent];
  const found = readdirSync(path.join(root, parent), { withFileTypes: true }).filter(
    (one) => one.isDirectory() && (first === '*' || one.name === first),
  );
  return found.flatMap(({ name }) => foldersLike(root, rest, path.join(parent, name)));
}
