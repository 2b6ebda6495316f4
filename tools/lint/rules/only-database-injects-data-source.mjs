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

/** A connection taken past `Database` has no tenant set, so row-level security shows it nothing or, worse, everything. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      inject:
        '`{{name}}` goes past the tenant of a transaction. Inject `Database` from @slipway/platform-database and work inside `database.tx(scope, ...)` or `database.read(...)`.',
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
