import path from 'node:path';

/** Specs, the `test` folder of a project, and the `src/testing` folder that a library offers to the tests of others. */
export function isTest(context) {
  const name = inWorkspace(context);
  return /\.spec\.[cm]?tsx?$/.test(name) || /(^|\/)(test|src\/(\w+\/)?testing)\//.test(name);
}

/** Whether the linted file is in one of these folders, given from the root of the workspace. */
export function isUnder(context, ...folders) {
  const name = inWorkspace(context);
  return folders.some((folder) => name.startsWith(`${folder}/`));
}

/** The path of the linted file from the root of the workspace. */
export function inWorkspace(context) {
  return path.relative(context.cwd, context.filename).split(path.sep).join('/');
}
