import path from 'node:path';
import { inWorkspace } from '../files.mjs';

/** Migrations that are older than the rule. They were released together with the code that they break. */
const RELEASED = new Set(['1700000000013-token-owners.ts', '1700000000606-dataplane-histograms.ts']);

const BREAKING = [
  /\bdrop\s+(table|column|view|type)\b/i,
  /\brename\s+(to|column|constraint|\w+\s+to)\b/i,
  /\bset\s+not\s+null\b/i,
  /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i,
];
const ADDED = /\badd\s+column\b/i;

/** During an upgrade, processes of the previous release run on the new schema. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      breaks:
        'During an upgrade, processes of the previous release still use this. Stop using it in this release. Make the change in a later release, in a migration with `static readonly breaksBefore`: the name of a migration of this release. A new column must be nullable or have a default.',
    },
  },
  create(context) {
    const file = inWorkspace(context);
    if (!/\/migrations\/[^/]+\.ts$/.test(file) || RELEASED.has(path.basename(file))) return {};
    return {
      ClassBody(node) {
        if (node.body.some((member) => member.static && member.key?.name === 'breaksBefore')) return;
        const up = node.body.find((member) => member.type === 'MethodDefinition' && member.key.name === 'up');
        if (!up) return;
        const text = context.sourceCode.getText(up);
        if (BREAKING.some((pattern) => pattern.test(text)) || text.split(ADDED).slice(1).some(isBare))
          context.report({ node: up.key, messageId: 'breaks' });
      },
    };
  },
};

/** Whether a column, given by the text after `add column`, is required and has no default. */
function isBare(text) {
  const definition = text.split(/\badd\s+(column|constraint)\b|[;`]/i)[0];
  return /\bnot\s+null\b/i.test(definition) && !/\bdefault\b|\bgenerated\b/i.test(definition);
}
