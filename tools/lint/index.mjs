import areaOrder from './rules/area-order.mjs';
import childrenGetAnEnvironment from './rules/children-get-an-environment.mjs';
import fileNames from './rules/file-names.mjs';
import fileSize from './rules/file-size.mjs';
import freeOfNest from './rules/free-of-nest.mjs';
import guardedCalls from './rules/guarded-calls.mjs';
import migrationBreaks from './rules/migration-breaks.mjs';
import noFocusedTests from './rules/no-focused-tests.mjs';
import noLazyLookup from './rules/no-lazy-lookup.mjs';
import oneClient from './rules/one-client.mjs';
import oneClock from './rules/one-clock.mjs';
import onlyConfigReadsEnv from './rules/only-config-reads-env.mjs';
import onlyDatabaseInjectsDataSource from './rules/only-database-injects-data-source.mjs';
import onlyTheRelayEnqueues from './rules/only-the-relay-enqueues.mjs';
import ownTablesOnly from './rules/own-tables-only.mjs';
import portsPointDown from './rules/ports-point-down.mjs';
import statementReason from './rules/statement-reason.mjs';

export { boundaries, testBoundaries } from './boundaries.mjs';

/** Slipway's own rules. Each has a fixture that must fail, in `fixtures/`. */
export const plugin = {
  meta: { name: 'slipway' },
  rules: {
    'area-order': areaOrder,
    'children-get-an-environment': childrenGetAnEnvironment,
    'file-names': fileNames,
    'file-size': fileSize,
    'free-of-nest': freeOfNest,
    'guarded-calls': guardedCalls,
    'migration-breaks': migrationBreaks,
    'no-focused-tests': noFocusedTests,
    'no-lazy-lookup': noLazyLookup,
    'one-client': oneClient,
    'one-clock': oneClock,
    'only-config-reads-env': onlyConfigReadsEnv,
    'only-database-injects-data-source': onlyDatabaseInjectsDataSource,
    'only-the-relay-enqueues': onlyTheRelayEnqueues,
    'own-tables-only': ownTablesOnly,
    'ports-point-down': portsPointDown,
    'statement-reason': statementReason,
  },
};

export const ownRules = Object.fromEntries(Object.keys(plugin.rules).map((name) => [`slipway/${name}`, 'error']));
