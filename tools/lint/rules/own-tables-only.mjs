import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inWorkspace, isTest } from '../files.mjs';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const CREATES = /create (?:unlogged )?table (?:if not exists )?"?(\w+)"?/gi;
const NAMES = /\b(?:from|join|into|update|truncate|only)\s+(?:only\s+)?"?([a-z_]+)"?/gi;

/** Areas whose matter a table of the platform is: they show it, and change it by the platform's own functions. */
const SHOWN_BY = {
  audit_log: ['audit'],
  events: ['webhooks'],
  event_streams: ['webhooks'],
  operations: ['operations'],
  tenants: ['audit', 'identity'],
  api_tokens: ['identity'],
};

/**
 * An area reads and writes its own tables. What it needs of another stands in that one's port; what it needs of the platform is a
 * function of the platform. Otherwise nobody could change a table without reading every area.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      foreign:
        'The table `{{table}}` belongs to {{owner}}. Ask its owner: through the port of an area, or a function of the library.',
    },
  },
  create(context) {
    const file = inWorkspace(context);
    const area = /^libs\/areas\/([^/]+)\//.exec(file)?.[1];
    if (!area || isTest(context) || file.includes('/migrations/')) return {};
    const owners = ownersOfTables();
    const isForeign = (name) => {
      const owner = owners.get(name);
      return owner && owner !== `libs/areas/${area}`;
    };
    const report = (node, table) =>
      context.report({ node, messageId: 'foreign', data: { table, owner: owners.get(table) } });
    const complain = (node, text) => {
      for (const [, name] of text.matchAll(NAMES))
        if (isForeign(name) && !SHOWN_BY[name]?.includes(area)) report(node, name);
    };
    return {
      // The entity stands with the table's owner, for those too who may show the table.
      "Decorator > CallExpression[callee.name='Entity'] Property[key.name='name'] > Literal"(node) {
        if (isForeign(node.value)) report(node, node.value);
      },
      Literal: (node) => typeof node.value === 'string' && complain(node, node.value),
      TemplateElement: (node) => complain(node, node.value.raw),
    };
  },
};

let found;
/** Which library's migrations create a table. */
function ownersOfTables() {
  found ??= new Map(
    [...foldersIn('libs/areas'), ...foldersIn('libs/platform'), 'libs/dataplane'].flatMap((library) =>
      migrationsOf(library).flatMap((text) => [...text.matchAll(CREATES)].map(([, table]) => [table, library])),
    ),
  );
  return found;
}

function foldersIn(folder) {
  return readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`);
}

function migrationsOf(library) {
  const folder = path.join(ROOT, library, 'src/migrations');
  try {
    return readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
  } catch {
    return [];
  }
}
