import path from 'node:path';
import { inWorkspace } from '../files.mjs';

/** Older than the rule, and released with everything that stands beside them. */
const RELEASED = new Set(['1700000000013-token-owners.ts', '1700000000606-dataplane-histograms.ts']);

const BREAKING = [
  /\bdrop\s+(table|column|view|type)\b/i,
  /\brename\s+(to|column|constraint|\w+\s+to)\b/i,
  /\bset\s+not\s+null\b/i,
  /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i,
];
const ADDED = /\badd\s+column\b/i;

/** While an upgrade is under way, processes of the last release serve beside the new schema. */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      breaks:
        'Processes of the last release still serve and know nothing of this. Let this release stop using it first, and give the migration of a later one `static readonly breaksBefore` with the name of a migration that this release came with. A new column may be null or has a default.',
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

/** One column's definition, as it follows `add column`. */
function isBare(text) {
  const definition = text.split(/\badd\s+(column|constraint)\b|[;`]/i)[0];
  return /\bnot\s+null\b/i.test(definition) && !/\bdefault\b|\bgenerated\b/i.test(definition);
}
