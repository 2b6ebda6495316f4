import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inWorkspace } from './files.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const REGISTRY = 'libs/registry/src/areas.ts';
const LINE = /'@slipway\/area-([a-z0-9-]+)(?:\/([a-z0-9-]+))?'/g;

/** The workspace whose list of areas and migrations a rule reads. Fixtures have their own. */
export function rootOf(context) {
  return path.resolve(ROOT, context.settings.slipway?.root ?? '.');
}

const lists = new Map();
/**
 * The area modules in the order of the registry, the lowest first. A module has a folder: the library itself
 * (`libs/areas/routing`), or one of several folders in it (`libs/areas/revisions/src/deployment-records`). A lint
 * server keeps the list that it read when it started.
 * @returns {Areas}
 */
export function areasOf(context) {
  return areasIn(rootOf(context));
}

export function areasIn(root) {
  if (!lists.has(root)) lists.set(root, new Areas(readFileSync(path.join(root, REGISTRY), 'utf8')));
  return lists.get(root);
}

class Areas {
  /** @type {{name: string, lib: string, folder: string}[]} */
  modules;

  constructor(registry) {
    this.modules = [...registry.matchAll(LINE)].map(([, lib, module]) =>
      module
        ? { name: module, lib, folder: `libs/areas/${lib}/src/${module}` }
        : { name: lib, lib, folder: `libs/areas/${lib}` },
    );
  }

  /** Negative if the list does not contain the name. */
  indexOf(name) {
    return this.modules.findIndex((one) => one.name === name);
  }

  modulesOf(lib) {
    return this.modules.filter((one) => one.lib === lib);
  }

  /**
   * The position of a library's first or last module in the list; negative if the list does not contain the library.
   */
  firstOf(lib) {
    return this.modules.findIndex((one) => one.lib === lib);
  }
  lastOf(lib) {
    return this.modules.findLastIndex((one) => one.lib === lib);
  }

  /** The module whose folder contains a file, given from the root of the workspace. */
  moduleAt(file) {
    return this.modules.find(({ folder }) => file === folder || file.startsWith(`${folder}/`));
  }
}

/** The library of an area file, and the module if the file is in the folder of one. */
export function areaOf(context) {
  const file = inWorkspace(context);
  const lib = /^libs\/areas\/([^/]+)\//.exec(file)?.[1];
  if (!lib) return undefined;
  // A library that is not in the list yet counts as one module.
  const areas = areasOf(context);
  const module = areas.modulesOf(lib).length > 0 ? areas.moduleAt(file)?.name : lib;
  return { lib, module };
}

/** The path of a relative import, from the root of the workspace. */
export function targetOf(context, specifier) {
  if (typeof specifier !== 'string' || !specifier.startsWith('.')) return undefined;
  return path.posix.join(path.posix.dirname(inWorkspace(context)), specifier);
}
