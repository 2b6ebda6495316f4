import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

/** `.ci/nightly` sets both: `node libs/sdk/python/environment.mjs`, `node tools/client-generators/build.mjs`. */
const PYTHON = process.env['SLIPWAY_TEST_PYTHON'];
const GENERATORS = process.env['SLIPWAY_TEST_GENERATORS'];
const RUNTIME = 'github.com/oapi-codegen/runtime v1.9.0';

jest.setTimeout(600_000);

const DOCUMENT = fileURLToPath(new URL('../openapi.json', import.meta.url));
const { paths } = JSON.parse(await readFile(DOCUMENT, 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};
const ids = Object.values(paths)
  .flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  .sort();

/** Lines of the log of openapi-generator that say nothing about the document. */
const HARMLESS = [
  /OpenAPI 3\.1 support is still in beta/,
  // An answer that is a stream or a text has no example in JSON.
  /Response examples can currently only be generated for application\/json/,
  // The example of a text with `maxLength` but without `example`; examples are not part of the code.
  /Error in generating `example` for the property \w+\. Default to ERROR_TO_EXAMPLE_VALUE/,
  // A list of alternatives has no name in the document, and needs none in the code.
  /Failed to get the schema name: null/,
  // Words that the language reserves get another name in the code.
  /\(reserved word\) cannot be used as (?:model|parameter) name/,
];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'slipway-generators-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const env = { ...process.env, NODE_OPTIONS: '', ...options.env };
  const { stdout, stderr } = await promisify(execFile)(program, args, {
    cwd: options.cwd ?? dir,
    env,
    maxBuffer: 2 ** 28,
  });
  return `${stdout}\n${stderr}`;
}

/** Returns all Python files of a folder, with their texts. */
async function modulesIn(folder: string): Promise<[string, string][]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.py')).sort();
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => [file, await readFile(path.join(folder, file), 'utf8')]),
  );
}

/** Returns names as snake_case without underscores, because generators split abbreviations differently. */
const plain = (names: readonly string[]): string[] =>
  names.map((name) => name.replaceAll('_', '').toLowerCase()).sort();

(PYTHON ? describe : describe.skip)('openapi-python-client', () => {
  it('makes a module of each operation, without a warning', async () => {
    const bin = path.join(PYTHON!, 'venv/bin');
    const client = path.join(dir, 'python-client');
    await run(
      path.join(bin, 'openapi-python-client'),
      ['generate', '--path', DOCUMENT, '--meta', 'none', '--output-path', client, '--fail-on-warning'],
      { env: { PATH: `${bin}${path.delimiter}${process.env['PATH']}` } },
    );
    const modules = (await modulesIn(path.join(client, 'api'))).map(([file]) => path.basename(file, '.py'));
    expect(plain(modules.filter((name) => name !== '__init__'))).toEqual(plain(ids));
    await run(path.join(bin, 'python'), ['-m', 'compileall', '-q', client]);
  });
});

(GENERATORS ? describe : describe.skip)('oapi-codegen', () => {
  it('makes a method of each operation, without a warning, and the code compiles', async () => {
    const args = ['-generate', 'types,client', '-package', 'slipway', '-o', 'slipway.go', DOCUMENT];
    expect((await run(path.join(GENERATORS!, 'oapi-codegen'), args)).trim()).toBe('');
    const code = await readFile(path.join(dir, 'slipway.go'), 'utf8');
    const interfaceText = code.slice(code.indexOf('type ClientInterface interface {'));
    const methods = interfaceText.slice(0, interfaceText.indexOf('\n}')).matchAll(/^\t(\w+)\(ctx context\.Context/gm);
    // An operation with several media types has a method for each, and one for any.
    const names = [...methods].map(([, name]) => name!.replace(/^(.+)With\w*Body$/, '$1'));
    expect(plain([...new Set(names)])).toEqual(plain(ids));
    await writeFile(path.join(dir, 'go.mod'), `module slipway\n\ngo 1.24\n\nrequire ${RUNTIME}\n`);
    await run('go', ['mod', 'tidy'], { env: { GOFLAGS: '' } });
    await run('go', ['build', './...'], { env: { GOFLAGS: '' } });
  });
});

(GENERATORS ? describe : describe.skip)('openapi-generator', () => {
  it('makes a method of each operation, with harmless warnings only, and the code compiles', async () => {
    const client = path.join(dir, 'openapi-generator');
    const jar = path.join(GENERATORS!, 'openapi-generator-cli.jar');
    const log = await run('java', ['-Xmx1g', '-jar', jar, 'generate', '-g', 'python', '-i', DOCUMENT, '-o', client]);
    const warnings = log.split('\n').filter((line) => /\b(?:WARN|ERROR)\b/.test(line));
    expect(warnings.filter((line) => !HARMLESS.some((pattern) => pattern.test(line)))).toEqual([]);
    const modules = await modulesIn(path.join(client, 'openapi_client/api'));
    const methods = modules.flatMap(([, text]) => [...text.matchAll(/^ {4}def ([a-z]\w+)_with_http_info\(/gm)]);
    expect(plain(methods.map(([, name]) => name!))).toEqual(plain(ids));
    await run('python3', ['-m', 'compileall', '-q', path.join(client, 'openapi_client')]);
  });
});
