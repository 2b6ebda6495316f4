import { isTest, isUnder } from '../files.mjs';

/** A variable that is read elsewhere is not checked at boot and is missing from the list of variables. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      env: 'Only platform/config reads the environment. Add the variable to its VARIABLES and `Config`, then inject `CONFIG` from @slipway/platform-config.',
    },
  },
  create(context) {
    // CLI and SDK run on other machines than the product. They have separate variables and read them in one file.
    const clients = ['apps/cli', 'libs/sdk'];
    if (isTest(context) || isUnder(context, 'libs/platform/config', 'libs/platform/testing', 'tools', ...clients))
      return {};
    return {
      'MemberExpression[object.name="process"]'(node) {
        if ((node.property.name ?? node.property.value) === 'env') context.report({ node, messageId: 'env' });
      },
      'VariableDeclarator[init.name="process"] > ObjectPattern > Property'(node) {
        if (node.key.name === 'env') context.report({ node, messageId: 'env' });
      },
      ImportSpecifier(node) {
        if (/^(node:)?process$/.test(node.parent.source.value) && node.imported.name === 'env')
          context.report({ node, messageId: 'env' });
      },
    };
  },
};
