import { isTest, isUnder } from '../files.mjs';

const NAMES = {
  typeorm: new Set(['DataSource', 'createConnection', 'getConnection']),
  '@nestjs/typeorm': new Set([
    'InjectDataSource',
    'InjectEntityManager',
    'InjectRepository',
    'TypeOrmModule',
    'getDataSourceToken',
    'getRepositoryToken',
  ]),
};

/**
 * A connection that does not come from `Database` has no tenant. So row-level security shows it nothing or, worse,
 * everything.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      inject:
        '`{{name}}` bypasses the tenant of the transaction. Inject `Database` from @slipway/platform-database and work inside `database.tx(scope, ...)` or `database.read(...)`.',
    },
  },
  create(context) {
    if (isTest(context) || isUnder(context, 'libs/platform/database', 'libs/platform/testing', 'tools')) return {};
    return {
      ImportSpecifier(node) {
        const name = node.imported.name ?? node.imported.value;
        if (NAMES[node.parent.source.value]?.has(name)) context.report({ node, messageId: 'inject', data: { name } });
      },
    };
  },
};
