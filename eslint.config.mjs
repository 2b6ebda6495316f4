import { createProjectGraphAsync } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import { boundaries, testBoundaries, ownRules, plugin as slipway } from './tools/lint/index.mjs';

// The boundary rule reads Nx's cached project graph, and accepts everything if there is none. `nx run-many -t lint` has
// just written it; a plain `eslint .` has not.
if (!process.env.NX_TASK_TARGET_PROJECT) {
  process.env.NX_DAEMON = 'false';
  await createProjectGraphAsync();
}

const SYNTAX = [
  {
    selector:
      "Decorator[expression.callee.name='Inject'] > CallExpression > Identifier[name=/^[A-Z][a-z]/]:first-child",
    message: 'Remove `@Inject`: the type of the parameter already names the class.',
  },
  {
    selector:
      "CallExpression[callee.property.name=/^(save|remove|upsert|preload)$/][callee.object.callee.property.name='repository']",
    message:
      'Use `insert`, `update` or `delete`: this method reads first, and then overwrites concurrent changes. Use SQL for conflicts.',
  },
  {
    selector: 'TemplateElement[value.raw=/\\bin\\s*\\(\\s*select\\b[^;]*\\blimit\\b[^;]*\\bskip\\s+locked\\s*\\)/i]',
    message:
      'Use `= any(array(select …))`: Postgres may run the subquery of `in` several times, each time for other rows, and so take more than its limit.',
  },
  ...membersOfAbortSignal('any').map((selector) => ({
    selector,
    message:
      'Use `timeLimit`, `withinTime` or `joinSignals` of @slipway/contracts: Node 20 collects the sources of `AbortSignal.any`, so that a time limit among them never fires.',
  })),
];

/** Parts of libraries that commands load at once, while the library itself is loaded on first use. */
const LIGHT = ['@slipway/sdk/endpoints'];

/**
 * Foreign texts reach most regular expressions, so none may take more than linear time. The others find expressions that
 * do not mean what they seem to. `tools/text-fuzz` covers patterns that are built at run time.
 */
const EXPRESSIONS = {
  'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
  'regexp/no-super-linear-move': ['error', { report: 'potential' }],
  'regexp/optimal-quantifier-concatenation': 'error',
  'regexp/no-misleading-capturing-group': 'error',
  'regexp/no-useless-quantifier': 'error',
  'regexp/no-useless-lazy': 'error',
  'regexp/no-dupe-disjunctions': 'error',
  'regexp/no-empty-alternative': 'error',
  'regexp/no-missing-g-flag': 'error',
  'regexp/no-misleading-unicode-character': 'error',
};

const TIMEOUTS = membersOfAbortSignal('timeout').map((selector) => ({
  selector,
  message:
    'Use `timeLimit`, `withinTime` or `joinSignals` of @slipway/contracts: they also release their timer when the work has ended.',
}));

/** Selectors for a static method of `AbortSignal`, however the code writes it. */
function membersOfAbortSignal(name) {
  const isOf = ["[object.name='AbortSignal']", "[object.property.name='AbortSignal']"];
  const isNamed = [`[property.name='${name}']`, `[property.value='${name}']`];
  return [
    ...isOf.flatMap((of) => isNamed.map((named) => `MemberExpression${of}${named}`)),
    `VariableDeclarator[init.name='AbortSignal'] > ObjectPattern > Property[key.name='${name}']`,
    `VariableDeclarator[init.property.name='AbortSignal'] > ObjectPattern > Property[key.name='${name}']`,
  ];
}

export default [
  { ignores: ['**/dist', '**/node_modules', '**/coverage', '**/test-output', '.nx', '.slipway'] },
  // Generated, with its own formatting.
  { ignores: ['libs/sdk/src/generated'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx,mjs,cjs}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@nx': nx, slipway },
    rules: {
      ...ownRules,
      '@nx/enforce-module-boundaries': [
        'error',
        { depConstraints: boundaries, checkDynamicDependenciesExceptions: LIGHT },
      ],
      'no-else-return': 'error',
      'no-restricted-syntax': ['error', ...SYNTAX],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      // Enabled in product code, below: a test may read an answer without declaring its type.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-empty-object-type': 'off',
      // Nest's own type for a class that is only a token.
      '@typescript-eslint/no-unsafe-function-type': 'off',
    },
  },
  {
    files: ['libs/areas/*/test/**/*.ts', 'libs/areas/**/*.spec.ts', 'apps/*/test/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': ['error', { depConstraints: testBoundaries }] },
  },
  {
    // Scripts run before anything is built, so they import by path and read the environment themselves.
    files: ['**/*.{mjs,cjs}'],
    ignores: ['{apps,libs}/**/src/**'],
    rules: { '@nx/enforce-module-boundaries': 'off', 'slipway/only-config-reads-env': 'off' },
  },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    files: ['{apps,libs}/**/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/platform/testing/**', '**/src/**/testing/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [
                '@slipway/platform-testing/*',
                '@slipway/*/testing',
                '@slipway/*/testing/*',
                '@slipway/*/*/testing',
                '@slipway/*/*/testing/*',
                '@slipway/kube-testbed*',
              ],
              message: 'Only specs and `test` folders may import this. Product code must run without it.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['{apps,libs,tools}/**/src/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.{ts,tsx}', 'libs/platform/testing/**', '**/src/**/testing/**'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      // Alone it fires, so tests and scripts may use it; joined with another signal it does not.
      'no-restricted-syntax': ['error', ...SYNTAX, ...TIMEOUTS],
    },
  },
  {
    files: ['**/*.{ts,tsx,mjs,cjs}'],
    ignores: ['**/*.spec.{ts,tsx}', '**/test/**', '**/testing/**'],
    plugins: { regexp },
    rules: EXPRESSIONS,
  },
  {
    // Specs belong to no project of their own, and a promise that a test forgets becomes visible by itself.
    files: ['**/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: { '@typescript-eslint/no-floating-promises': 'error' },
  },
];
