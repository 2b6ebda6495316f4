import { isTest, isUnder } from '../files.mjs';

const ADDERS = new Set(['add', 'addBulk']);

/**
 * A job that is added next to the write survives a rollback, and is lost in a crash between commit and add. The outbox
 * has neither fault.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      add: 'Only the outbox relay adds to the queue. Claim an operation with `OperationStore` from @slipway/platform-durable/operations: its transaction writes the outbox row.',
      bullmq:
        'Only @slipway/platform-durable/queue imports BullMQ. Claim an operation with `OperationStore` from @slipway/platform-durable/operations, or consume through `OPERATION_QUEUE`.',
    },
  },
  create(context) {
    if (isTest(context) || isUnder(context, 'libs/platform/durable/src/queue', 'tools/bench')) return {};
    const isRelay =
      isUnder(context, 'libs/platform/durable/src/operations') && context.filename.endsWith('outbox.relay.ts');
    return {
      ImportDeclaration(node) {
        if (['bullmq', '@nestjs/bullmq'].includes(node.source.value)) context.report({ node, messageId: 'bullmq' });
      },
      'CallExpression > MemberExpression.callee'(node) {
        if (isRelay || !ADDERS.has(node.property.name)) return;
        const owner = node.object.type === 'MemberExpression' ? node.object.property : node.object;
        if (/queue$/i.test(owner.name ?? '')) context.report({ node, messageId: 'add' });
      },
    };
  },
};
