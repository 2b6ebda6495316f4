/** `forwardRef` makes a cycle of modules run, and hides that two things own each other. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      forward:
        'A cycle is a wrong cut. Let one side offer a port (libs/ports) and the other inject its token, or publish a stored event (`appendEvent`).',
    },
  },
  create(context) {
    return {
      ImportSpecifier(node) {
        if (node.parent.source.value === '@nestjs/common' && node.imported.name === 'forwardRef')
          context.report({ node, messageId: 'forward' });
      },
    };
  },
};
