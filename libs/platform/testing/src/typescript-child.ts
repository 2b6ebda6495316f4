/** The same file from `src` and from `dist`. */
const REGISTER = new URL('../register-typescript.mjs', import.meta.url).href;

/**
 * Node's arguments for a child process whose entry is a TypeScript file of a `test` folder. The file's own library is
 * compiled while it loads. Other libraries come from their `dist`, which Nx builds before the tests.
 */
export const TYPESCRIPT_CHILD: readonly string[] = ['--no-warnings', '--import', REGISTER];
