// `npm run build`, and the first step of every script that runs built code. It prints one line, or all output of the
// compiler if that fails. One compiler builds all projects: a cold build takes a quarter of the time that Nx needs,
// which starts one compiler for each project (as `npx nx affected -t build` does). Plain JavaScript, because it runs
// before anything is built.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url)));
const STAMP = path.join(ROOT, 'node_modules', '.cache', 'slipway-build');
const FOLDERS = ['apps', 'libs', 'tools'];
const FILES = ['package.json', 'package-lock.json', 'nx.json', 'tsconfig.base.json', 'tsconfig.json'];
/** Folders that are not part of a build, and would take most of the time. */
const SKIPPED = new Set(['node_modules', 'test', 'fixtures', '.cache']);
/** Other tools compile these, or they are not compiled. */
const BUNDLED = ['apps/console'];

/** How often a log shows that a long build advances. */
const TELL_MS = 30_000;
/** Output that `--verbose` adds: which project is checked, and when. */
const STEP = /^\[?\d+:\d+:\d+|^ {4}\* |^\s*$/;

/** The compiler prints it once for each project. */
const PROJECT_START = 'Building project ';

const startedAt = performance.now();
const before = fingerprint();
if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === before) {
  told(`Nothing to build: nothing changed (${seconds()} s).`);
} else {
  rmSync(STAMP, { force: true });
  forgetWhatIsGone();
  const { status, output } = await compile();
  if (status !== 0) {
    for (const line of output.split('\n')) if (!STEP.test(line)) process.stderr.write(`${line}\n`);
    process.stderr.write(`The build failed after ${seconds()} s. See the errors above.\n`);
    process.exit(status);
  }
  await bundleSdk();
  await bundleCommand();
  const built = output.split(PROJECT_START).length - 1 + ((await bundleConsole()) ? 1 : 0);
  told(`Built ${built === 1 ? '1 project' : `${built} projects`} in ${seconds()} s.`);
  mkdirSync(path.dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, fingerprint());
}

/** stderr, because a program may read the stdout of the next command. */
function told(line) {
  process.stderr.write(`${line}\n`);
}

function seconds() {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

/** Shows that a build advances: in one line on a terminal, and elsewhere in a line each half minute. */
function progressOf() {
  const { stderr } = process;
  let toldAt = performance.now();
  let count = 0;
  /** The end of the output, in which the next chunk may complete the text that is counted. */
  let rest = '';
  const show = (chunk) => {
    const pieces = `${rest}${chunk}`.split(PROJECT_START);
    count += pieces.length - 1;
    rest = pieces.at(-1).slice(1 - PROJECT_START.length);
    const now = performance.now();
    if (!stderr.isTTY && now - toldAt < TELL_MS) return;
    toldAt = now;
    const line = `Building: ${count === 1 ? '1 project' : `${count} projects`} so far, ${seconds()} s`;
    stderr.write(stderr.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
  return Object.assign(show, { end: () => void (stderr.isTTY && stderr.write('\r\u001b[K')) });
}

function compile() {
  return new Promise((resolve) => {
    const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    if (!existsSync(tsc)) return resolve({ status: 1, output: 'The packages are not installed. Run npm ci first.\n' });
    const child = spawn(process.execPath, [tsc, '-b', '--verbose', 'tsconfig.json'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const progress = progressOf();
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
        progress(chunk);
      });
    const end = (result) => {
      progress.end();
      resolve(result);
    };
    child.once('error', (error) => end({ status: 1, output: `${error.message}\n` }));
    child.once('close', (code) => end({ status: code ?? 1, output }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.once(signal, () => {
        child.kill(signal);
        process.exit(1);
      });
  });
}

/** The SDK imports no package, so the contracts that it re-exports are copied into it. */
async function bundleSdk() {
  const file = path.join(ROOT, 'libs', 'sdk', 'bundle.mjs');
  if (existsSync(file)) (await import(pathToFileURL(file).href)).bundle();
}

/** The command `slipway` is one file. A copy of the workspace without apps builds too. */
async function bundleCommand() {
  const file = path.join(ROOT, 'apps', 'cli', 'bundle.mjs');
  if (existsSync(file)) await (await import(pathToFileURL(file).href)).bundle();
}

/**
 * The pages that the api serves. A copy of the workspace that builds no pages (the image of another process) has no
 * Vite.
 */
async function bundleConsole() {
  const file = path.join(ROOT, 'apps', 'console', 'build.mjs');
  if (!existsSync(file)) return false;
  return (await import(pathToFileURL(file).href)).bundle();
}

/**
 * The compiler checks its build info and not its output. If an output file is missing, this function deletes the build
 * info too.
 */
function forgetWhatIsGone() {
  const look = (folder) => {
    const sources = path.join(folder, 'src');
    if (BUNDLED.includes(path.relative(ROOT, folder))) return;
    if (existsSync(sources)) {
      const missing = readdirSync(sources, { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?<!\.spec|\.d)\.ts$/.test(file))
        .some((file) => !existsSync(path.join(folder, 'dist', file.replace(/\.ts$/, '.js'))));
      if (missing) rmSync(path.join(folder, 'dist', 'tsconfig.lib.tsbuildinfo'), { force: true });
      return;
    }
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) look(path.join(folder, entry.name));
  };
  for (const folder of FOLDERS) if (existsSync(path.join(ROOT, folder))) look(path.join(ROOT, folder));
}

/** A hash of every source and every built file, by size and time. So a deleted output counts as a change too. */
function fingerprint() {
  const hash = createHash('sha256').update(process.version);
  const note = (file) => {
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  };
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const at = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) walk(at);
      } else note(at);
    }
  };
  for (const file of FILES) note(path.join(ROOT, file));
  for (const folder of FOLDERS) if (existsSync(path.join(ROOT, folder))) walk(path.join(ROOT, folder));
  return hash.digest('hex');
}
