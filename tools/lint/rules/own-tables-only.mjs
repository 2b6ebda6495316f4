import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { areaOf, areasOf, rootOf } from '../areas.mjs';
import { inWorkspace, isTest } from '../files.mjs';

const CREATES = /create (?:unlogged )?table (?:if not exists )?"?(\w+)"?/gi;
const NAMES = /\b(?:from|join|into|update|truncate|only)\s+(?:only\s+)?"?([a-z_]+)"?/gi;

/**
 * Tables of the platform, and the area modules that show them. These areas read the table, and change it through
 * functions of the platform.
 */
const SHOWN_BY = {
  audit_log: ['audit'],
  events: ['webhooks'],
  event_streams: ['webhooks'],
  operations: ['operations'],
  tenants: ['audit', 'identity'],
  api_tokens: ['identity'],
};

/**
 * An area module reads and writes only its own tables. It calls another area through that area's port, and the platform
 * through a function of the platform. Otherwise a change to a table would require reading every area. The owner of a
 * table is the module whose migrations create it: in `src/migrations`, or in `src/<module>/migrations` if a library
 * contains several modules.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      foreign:
        'The table `{{table}}` belongs to {{owner}}. Ask its owner: call the port of the area or a function of the library, or subscribe to a stored event.',
    },
  },
  create(context) {
    const area = areaOf(context);
    if (!area || isTest(context) || inWorkspace(context).includes('/migrations/')) return {};
    const owners = ownersOfTables(context);
    const own = new Set([`libs/areas/${area.lib}`, areasOf(context).moduleAt(inWorkspace(context))?.folder]);
    const isForeign = (name) => owners.has(name) && !own.has(owners.get(name));
    const report = (node, table) =>
      context.report({ node, messageId: 'foreign', data: { table, owner: owners.get(table) } });
    const check = (node, text) => {
      for (const [, name] of text.matchAll(NAMES))
        if (isForeign(name) && !SHOWN_BY[name]?.includes(area.module)) report(node, name);
    };
    return {
      // Even an area that shows a table imports the entity from the table's owner.
      "Decorator > CallExpression[callee.name='Entity'] Property[key.name='name'] > Literal"(node) {
        if (isForeign(node.value)) report(node, node.value);
      },
      Literal: (node) => typeof node.value === 'string' && check(node, node.value),
      TemplateElement: (node) => check(node, node.value.raw),
    };
  },
};

const read = new Map();
/** The folder of the module or library whose migrations create a table, by the name of the table. */
function ownersOfTables(context) {
  const root = rootOf(context);
  if (!read.has(root)) {
    const areas = areasOf(context);
    const libraries = [...foldersIn(root, 'libs/areas'), ...foldersIn(root, 'libs/platform'), 'libs/dataplane'];
    read.set(
      root,
      new Map(
        libraries.flatMap((library) =>
          migrationFoldersIn(root, library).flatMap((folder) => {
            const owner = areas.moduleAt(folder)?.folder ?? library;
            return tablesOf(path.join(root, folder)).map((table) => [table, owner]);
          }),
        ),
      ),
    );
  }
  return read.get(root);
}

function foldersIn(root, folder) {
  try {
    return readdirSync(path.join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

function migrationFoldersIn(root, library) {
  return [`${library}/src`, ...foldersIn(root, `${library}/src`)].flatMap((folder) =>
    foldersIn(root, folder).filter((one) => one.endsWith('/migrations')),
  );
}

function tablesOf(folder) {
  return readdirSync(folder).flatMap((name) =>
    [...readFileSync(path.join(folder, name), 'utf8').matchAll(CREATES)].map(([, table]) => table),
  );
}
