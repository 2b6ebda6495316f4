import fileNames from './rules/file-names.mjs';
import fileSize from './rules/file-size.mjs';
import noFocusedTests from './rules/no-focused-tests.mjs';
import noForwardRef from './rules/no-forward-ref.mjs';
import onlyConfigReadsEnv from './rules/only-config-reads-env.mjs';
import onlyDatabaseInjectsDataSource from './rules/only-database-injects-data-source.mjs';
import onlyTheRelayEnqueues from './rules/only-the-relay-enqueues.mjs';

export { boundaries } from './boundaries.mjs';

/** Slipway's own rules. Each has a fixture that must fail, in `fixtures/`. */
export const plugin = {
  meta: { name: 'slipway' },
  rules: {
    'file-names': fileNames,
    'file-size': fileSize,
    'no-focused-tests': noFocusedTests,
    'no-forward-ref': noForwardRef,
    'only-config-reads-env': onlyConfigReadsEnv,
    'only-database-injects-data-source': onlyDatabaseInjectsDataSource,
    'only-the-relay-enqueues': onlyTheRelayEnqueues,
  },
};

export const ownRules = Object.fromEntries(Object.keys(plugin.rules).map((name) => [`slipway/${name}`, 'error']));
