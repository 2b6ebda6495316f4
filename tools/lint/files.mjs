import path from 'node:path';

/** Specs, and what lies beside them in a project's `test` folder. */
export function isTest(context) {
  const name = inWorkspace(context);
  return /\.spec\.[cm]?ts$/.test(name) || /(^|\/)test\//.test(name);
}

/** Whether the linted file lies in one of these folders, given from the workspace's root. */
export function isUnder(context, ...folders) {
  const name = inWorkspace(context);
  return folders.some((folder) => name.startsWith(`${folder}/`));
}

function inWorkspace(context) {
  return path.relative(context.cwd, context.filename).split(path.sep).join('/');
}
