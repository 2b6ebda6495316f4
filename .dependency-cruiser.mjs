/** Forbids import cycles: `npx depcruise libs apps tools`. The lint rules hold who may import whom. */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Move what both sides need into a file of its own, or let one side hand it to the other. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/|\\.spec\\.tsx?$|/test/|^tools/lint/fixtures/' },
    // Imports of types as well: a cycle of types is as hard to read as any other.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      conditionNames: ['@slipway/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
      exportsFields: ['exports'],
      mainFields: ['main'],
    },
  },
};
