// Builds llama.cpp's `llama-server` once and prints its path: node tools/llamacpp/build.mjs
// For tests only: it runs on any CPU of its architecture, but is not fast. It is kept in the user's cache folder, by
// version and flags.
// Exit status 3: a build tool is missing; stderr names it. Any other status except 0 is a failure.
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { EnvHttpProxyAgent, request } from 'undici';
import { Progress, runStep } from '../build-progress.mjs';

// A source package that contains the llama.cpp source of its release. Neither its Python code nor its build runs.
const PACKAGE = 'llama-cpp-python';
const ARCHIVE = 'llama_cpp_python-0.3.36.tar.gz';
const SHA256 = '832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e';
const SOURCE = 'llama_cpp_python-0.3.36/vendor/llama.cpp';
const MAX_BYTES = 200 * 2 ** 20;
const DOWNLOAD_SECONDS = 300;
const BUILD_SECONDS = 3600;
const MISSING = 3;

const FLAGS = [
  '-DCMAKE_BUILD_TYPE=Release',
  // Takes half the time of -O3, and the model of the tests has one layer.
  '-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG',
  '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG',
  '-DCMAKE_EXE_LINKER_FLAGS=-s',
  '-DBUILD_SHARED_LIBS=OFF',
  // A cache may be moved to another machine.
  ...['NATIVE', 'AVX', 'AVX2', 'BMI2', 'FMA', 'F16C'].map((name) => `-DGGML_${name}=OFF`),
  ...['OPENMP', 'LLAMAFILE', 'CPU_REPACK', 'CCACHE'].map((name) => `-DGGML_${name}=OFF`),
  ...['BUILD_TESTS', 'BUILD_EXAMPLES', 'BUILD_APP', 'BUILD_UI', 'USE_PREBUILT_UI', 'OPENSSL', 'CURL'].map(
    (name) => `-DLLAMA_${name}=OFF`,
  ),
];

const key = createHash('sha256').update(JSON.stringify([SHA256, FLAGS, process.platform, process.arch]));
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'slipway', 'llama-server');
const program = path.join(cache, key.digest('hex').slice(0, 16), 'llama-server');

if (!existsSync(program)) {
  const missing = ['cmake', 'cc', 'c++', 'make', 'tar', 'nice'].filter((tool) => !isInstalled(tool));
  if (missing.length > 0)
    giveUp(
      MISSING,
      `missing programs: ${missing.join(', ')}. On Debian and Ubuntu: apt-get install cmake g++ make; on macOS: xcode-select --install, brew install cmake`,
    );
  process.stderr.write(
    'llama-server is built once from its source, in about 5 minutes on two idle cores. It needs cmake, a C++ compiler, make and a Python package index.\n',
  );
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(path.join(cache, 'building-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  await download(path.join(scratch, ARCHIVE));
  await build(scratch);
  mkdirSync(path.dirname(program), { recursive: true });
  // A single rename, because another run may build the same or check for it.
  renameSync(path.join(scratch, 'build/bin/llama-server'), program);
}
process.stdout.write(`${program}\n`);

async function download(file) {
  const index = `${(process.env.PIP_INDEX_URL || 'https://pypi.org/simple').replace(/\/$/, '')}/${PACKAGE}/`;
  let archive;
  const progress = new Progress(`downloading ${ARCHIVE}`);
  try {
    const listed = (await body(index, 16 * 2 ** 20)).toString();
    // In an index in HTML or JSON, the only quoted text that has this ending and is longer than the name.
    const [, address] = listed.match(new RegExp(`["']([^"']*/${ARCHIVE.replaceAll('.', '\\.')})[#"']`)) ?? [];
    if (!address) throw new Error(`${index} does not list ${ARCHIVE}`);
    archive = await body(new URL(address, index).href, MAX_BYTES, progress);
  } catch (error) {
    progress.end();
    giveUp(MISSING, `${ARCHIVE} cannot be downloaded: ${error.message}`);
  }
  progress.end();
  const digest = createHash('sha256').update(archive).digest('hex');
  if (digest !== SHA256) giveUp(1, `${ARCHIVE} has the SHA-256 ${digest} instead of ${SHA256}`);
  writeFileSync(file, archive);
}

async function body(url, maxBytes, progress) {
  const answer = await request(url, {
    dispatcher: new EnvHttpProxyAgent({ bodyTimeout: 60_000 }),
    headers: { accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1' },
    signal: AbortSignal.timeout(DOWNLOAD_SECONDS * 1_000),
  });
  if (answer.statusCode !== 200) throw new Error(`${url} returned ${answer.statusCode}`);
  const chunks = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    progress?.set(`${Math.floor(bytes / 2 ** 20)} MiB`);
    if (bytes > maxBytes) throw new Error(`${url} sent more than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

async function build(scratch) {
  const folder = path.join(scratch, 'build');
  await run('unpacking the source', 'tar', ['-xzf', path.join(scratch, ARCHIVE), '-C', scratch]);
  await run('configuring the build', 'cmake', ['-S', path.join(scratch, SOURCE), '-B', folder, ...FLAGS]);
  await run('compiling llama-server', 'nice', [
    '-n',
    '15',
    'cmake',
    '--build',
    folder,
    '--target',
    'llama-server',
    '--parallel',
    String(os.availableParallelism()),
  ]);
}

/** The output of the command is shown only if it fails. */
async function run(title, command, args) {
  const { status, output } = await runStep(title, command, args, {
    timeoutMs: BUILD_SECONDS * 1_000,
    // make writes the share that is compiled before each file: `[ 42%]`.
    noteOf: (text) =>
      text
        .match(/\[ *\d+%\]/g)
        ?.at(-1)
        ?.replace(/\[ *(\d+)%\]/, '$1 %'),
  });
  if (status === 0) return;
  process.stderr.write(output.slice(-20_000));
  giveUp(1, `${command} failed: exit status ${status}`);
}

function isInstalled(tool) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function giveUp(status, reason) {
  process.stderr.write(`llama-server is not built: ${reason}.\n`);
  process.exit(status);
}
