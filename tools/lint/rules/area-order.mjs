import { targetOf } from '../areas.mjs';
import { isTest, isUnder } from '../files.mjs';

/** From the lowest layer to the highest. A service and an operation may name each other. */
const LAYERS = { entity: 0, query: 1, store: 2, service: 3, operation: 3, controller: 4 };
const ROLE = /\.([a-z]+)\.[jt]s$/;

/**
 * Within an area, a controller calls a service, a service calls a store, and a store reads entities. So a reader who
 * follows a request moves in one direction. Files without such a role, such as DTOs, errors and rules, may be imported
 * by all. Type imports count.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      order:
        'The {{role}} imports a {{other}}, but an area is ordered controller → service or operation → store → query → entity. Hand the value in as a parameter, or move the shared declaration to a lower layer or a file without a role.',
    },
  },
  create(context) {
    const role = ROLE.exec(context.filename)?.[1];
    if (!(role in LAYERS) || isTest(context) || !isUnder(context, 'libs/areas')) return {};
    const check = (node, source = node.source?.value) => {
      const other = ROLE.exec(targetOf(context, source) ?? '')?.[1];
      if (LAYERS[other] > LAYERS[role]) context.report({ node, messageId: 'order', data: { role, other } });
    };
    return {
      ImportDeclaration: (node) => check(node),
      ExportNamedDeclaration: (node) => check(node),
      ExportAllDeclaration: (node) => check(node),
      ImportExpression: (node) => check(node),
      TSImportType: (node) => check(node, node.source?.value ?? node.argument?.literal?.value),
    };
  },
};
