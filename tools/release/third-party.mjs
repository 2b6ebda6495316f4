// The licences of packages that a bundle contains, because they ask to be in every copy.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = 'node_modules/';
/** The innermost package of a path. */
const OF_PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const TEXT = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/**
 * The packages of which esbuild's output has at least one byte.
 * @returns {string[]} locations in package-lock.json, such as node_modules/yaml
 */
export function packagesIn({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs
    .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes(MODULES))
    .map(([file]) => OF_PACKAGE.exec(file.slice(file.indexOf(MODULES)))[0]);
}

/** @param {Iterable<string>} packages locations in package-lock.json */
export function licenceTexts(packages) {
  const parts = [...new Set(packages)].sort().map((location) => {
    const folder = path.join(ROOT, location);
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const texts = readdirSync(folder)
      .filter((file) => TEXT.test(file) && !file.endsWith('.js'))
      .map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
    return [`${name} ${version}: ${license}`, ...texts].join('\n\n');
  });
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
