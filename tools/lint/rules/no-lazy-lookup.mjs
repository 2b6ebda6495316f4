import { isTest, isUnder } from '../files.mjs';

/** Nest's functions to find a provider that the constructor does not name. */
const LOOKUPS = new Set([
  'DiscoveryService',
  'INestApplicationContext',
  'LazyModuleLoader',
  'ModuleRef',
  'ModulesContainer',
  'forwardRef',
]);

/**
 * A constructor lists what its class needs. With a look-up at run time or a forward reference, two areas can need each
 * other without any finding of the registry or the boundary rules.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      lookup:
        '`{{name}}` hides which class needs which. Inject the token of a port of an earlier area (@slipway/ports/<area>), or publish a stored event that the other area subscribes to (`@Subscription`).',
    },
  },
  create(context) {
    // The platform finds the declarations of areas (routes, operations, subscriptions) by their kind, never by their
    // name.
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
