import { isTest, isUnder } from '../files.mjs';

/** How Nest lets a class find what its constructor does not name. */
const LOOKUPS = new Set([
  'DiscoveryService',
  'INestApplicationContext',
  'LazyModuleLoader',
  'ModuleRef',
  'ModulesContainer',
  'forwardRef',
]);

/**
 * What a class needs stands in its constructor. A look-up at run time, or a reference forward, lets two areas own each other
 * where neither the module list nor the boundary rules see it.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      lookup:
        '`{{name}}` hides who needs whom. Inject the token of a port that points down (@slipway/ports/<area>), or publish a stored event that the other area subscribes to (`@Subscription`).',
    },
  },
  create(context) {
    // The platform finds what areas declare (routes, operations, subscriptions) by what it is, never by its name.
    if (isTest(context) || isUnder(context, 'apps', 'libs/platform', 'tools')) return {};
    const complain = (node, name) => context.report({ node, messageId: 'lookup', data: { name } });
    const isNest = (source) => source.value.startsWith('@nestjs/');
    return {
      ImportSpecifier(node) {
        const name = node.imported.name ?? node.imported.value;
        if (isNest(node.parent.source) && LOOKUPS.has(name)) complain(node, name);
      },
      // `import * as nest`, and then `nest.forwardRef`.
      'MemberExpression[object.type="Identifier"]'(node) {
        const name = node.property.name ?? node.property.value;
        if (!LOOKUPS.has(name)) return;
        const variable = context.sourceCode
          .getScope(node)
          .references.find(({ identifier }) => identifier === node.object);
        const [definition] = variable?.resolved?.defs ?? [];
        if (definition?.type === 'ImportBinding' && isNest(definition.parent.source)) complain(node, name);
      },
    };
  },
};
