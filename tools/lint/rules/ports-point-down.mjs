import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inWorkspace, isTest } from '../files.mjs';

const AREAS = path.resolve(import.meta.dirname, '../../../libs/registry/src/areas.ts');
const PORT = /^@slipway\/ports\/([a-z0-9-]+)$/;
const AREA = /^@slipway\/area-([a-z0-9-]+)$/;

/**
 * The areas stand in one list, from the lowest up. An area uses the ports of those above it in the list, and its own; only the
 * owner of a port provides it. So no two areas need each other, not through a third one either. Type imports count.
 * A test may also build the areas above its own, because they are more real than a fake of theirs.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      up: '`{{user}}` stands before `{{owner}}` in libs/registry/src/areas.ts and may not use its port. Let `{{user}}` publish a stored event (`appendEvents`) that `{{owner}}` subscribes to (`@Subscription`), or move what it needs down.',
      owner: 'Only the area `{{owner}}` provides its port. Offer a port of your own: libs/ports/src/{{user}}.port.ts.',
      test: 'A test of `{{user}}` may build only areas that stand before it in libs/registry/src/areas.ts, and `{{owner}}` does not. Stand in for it with a fake of what the test hears of it (`@Subscription`).',
      shared:
        'A file of libs/ports that belongs to no area may not use the port of one. Put the type into `{{owner}}.port.ts`.',
    },
  },
  create(context) {
    const file = inWorkspace(context);
    const area = /^libs\/areas\/([^/]+)\//.exec(file)?.[1];
    if (isTest(context)) return area ? testOf(context, area) : {};
    const port = /^libs\/ports\/src\/([^/]+)\.port\.ts$/.exec(file)?.[1];
    const isShared = !port && file.startsWith('libs/ports/src/');
    const user = area ?? port ?? path.dirname(file);
    if (!area && !port && !isShared && !/^(libs|apps)\//.test(file)) return {};

    const order = areasInOrder();
    /** The areas whose tokens this file has imported, by the local name of the token. */
    const owners = new Map();

    function ownerOf(source) {
      if (typeof source !== 'string') return undefined;
      if (port || isShared) return /^\.\/([^/]+)\.port\.js$/.exec(source)?.[1];
      return PORT.exec(source)?.[1];
    }
    function check(node) {
      const owner = ownerOf(node.source?.value);
      if (!owner) return;
      const data = { user, owner };
      if (isShared) context.report({ node, messageId: 'shared', data });
      else if ((area ?? port) && order.indexOf(owner) > order.indexOf(user))
        context.report({ node, messageId: 'up', data });
      for (const specifier of node.specifiers ?? []) if (specifier.local) owners.set(specifier.local.name, owner);
    }
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: (node) => check({ ...node, source: node.source ?? node.argument?.literal, loc: node.loc }),
      'Property[key.name="provide"]'(node) {
        const owner = owners.get(node.value.name);
        if (owner && owner !== area) context.report({ node, messageId: 'owner', data: { user, owner } });
      },
    };
  },
};

function testOf(context, user) {
  const order = areasInOrder();
  return {
    ImportDeclaration(node) {
      const owner = AREA.exec(node.source.value)?.[1];
      if (owner && order.indexOf(owner) > order.indexOf(user))
        context.report({ node, messageId: 'test', data: { user, owner } });
    },
  };
}

let read;
/** Of a list that is being edited, a lint server sees the state at its start. */
function areasInOrder() {
  read ??= [...readFileSync(AREAS, 'utf8').matchAll(/'@slipway\/area-([a-z0-9-]+)'/g)].map(([, name]) => name);
  return read;
}
