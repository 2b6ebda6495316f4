import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ESLint } from 'eslint';
import { withModuleWorkspace } from './module-workspace.mjs';

/**
 * Lints every fixture under the path that its first line declares, with the configuration of the workspace. Prints
 * `{fixture: [{ruleId, message}]}`. This is a separate process, because Jest's module system cannot load the
 * configuration of ESLint.
 */
const root = path.resolve(import.meta.dirname, '../../..');
const fixtures = path.join(import.meta.dirname, '../fixtures');

const found = await withModuleWorkspace(async (moduleRoot, files) => {
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: [
      {
        // The declared paths belong to no TypeScript project.
        files: ['**/*.ts'],
        languageOptions: { parserOptions: { projectService: false } },
        rules: { '@typescript-eslint/no-floating-promises': 'off' },
      },
      { files, settings: { slipway: { root: moduleRoot } } },
    ],
  });
  const messages = {};
  for (const name of (await readdir(fixtures)).filter((file) => file.endsWith('.txt')).sort()) {
    const text = await readFile(path.join(fixtures, name), 'utf8');
    const pretended = /^\/\/ as: (\S+)/.exec(text)[1];
    const [result] = await eslint.lintText(text, { filePath: path.join(root, pretended) });
    messages[name] = result.messages.map(({ ruleId, message }) => ({ ruleId, message }));
  }
  return messages;
});
process.stdout.write(JSON.stringify(found));
