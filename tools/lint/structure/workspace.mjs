import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const SOURCE = /^(?:apps|libs|tools)\/.+\.(?:ts|tsx|mts|mjs)$/;
const PRODUCT = /^(?:apps|libs|tools)\/(?:[^/]+\/)+?src\/.+\.tsx?$/;
const TEST = /\.spec\.tsx?$|\/test\/|\/src\/testing\//;
/** Generated files, templates, and fixtures that no build reads. */
const GENERATED = /\/generated\/|\.d\.m?ts$|^tools\/generators\/.+\/files\/|^tools\/lint\/fixtures\//;

/** The files that git tracks, and new ones that it does not ignore. A deleted file reads as undefined. */
export function readWorkspace(root) {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 64 << 20,
  });
  return new Workspace(listed.toString().split('\0').filter(Boolean), (file) => {
    try {
      return readFileSync(path.join(root, file), 'utf8');
    } catch {
      return undefined;
    }
  });
}

/** A workspace for tests, from a path and a text for each file. */
export function workspaceOf(files) {
  return new Workspace(Object.keys(files), (file) => files[file]);
}

class Workspace {
  #read;
  #texts = new Map();

  constructor(files, read) {
    this.#read = read;
    this.files = [...new Set(files)];
    this.sources = this.files.filter((file) => SOURCE.test(file) && !GENERATED.test(file) && this.has(file));
    this.products = this.sources.filter(isProduct);
  }

  has(file) {
    return this.text(file) !== undefined;
  }

  text(file) {
    if (!this.#texts.has(file)) this.#texts.set(file, this.#read(file));
    return this.#texts.get(file);
  }

  lines(file) {
    return this.text(file).replace(/\n$/, '').split('\n').length;
  }
}

export const isProduct = (file) => PRODUCT.test(file) && !TEST.test(file);

/** Every match of a pattern in a text, with the number of its line. */
export function matches(text, pattern) {
  const found = [];
  let line = 1;
  let counted = 0;
  for (const match of text.matchAll(pattern)) {
    for (; counted < match.index; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    found.push({ match, line });
  }
  return found;
}

// Prettier writes a declaration of a file at the start of a line.
const TYPES = /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:const )?(interface|type|class|enum) (\w+)/gm;
const EXPORTED_LATER = /^export (?:type )?\{([^}]*)\}(?! from)/gm;

/** The types that a file declares, exported or not. */
export function typesIn(text) {
  const later = new Set(
    [...text.matchAll(EXPORTED_LATER)].flatMap(([, list]) => list.split(',').map((one) => one.trim().split(' as ')[0])),
  );
  return matches(text, TYPES).map(({ match: [, exported, kind, name], line }) => ({
    name,
    kind,
    line,
    isExported: Boolean(exported) || later.has(name),
  }));
}

/** Reports the entries of a list of reasons that no longer exempt anything, so that the list stays current. */
export function unusedReasons(check, reasons, used) {
  return Object.keys(reasons)
    .filter((key) => !used.has(key))
    .map((key) => ({
      file: `tools/lint/structure/${check}.mjs`,
      line: 1,
      text: `the reason for \`${key}\` is no longer needed: delete it`,
    }));
}
