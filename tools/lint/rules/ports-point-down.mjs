import path from 'node:path';
import { areaOf, areasOf, targetOf } from '../areas.mjs';
import { inWorkspace, isTest } from '../files.mjs';

const PORT = /^@slipway\/ports\/([a-z0-9-]+)$/;
const AREA = /^@slipway\/area-([a-z0-9-]+)(?:\/([a-z0-9-]+))?$/;
const LIST = 'libs/registry/src/areas.ts';

/**
 * The registry lists the area modules, the lowest first. A module uses its own port and the ports of earlier modules,
 * and only the owner of a port provides it. So no two modules need each other, even through a third one. Type imports
 * count. If a library contains several modules, a module also imports earlier modules of its library, through their
 * `index.ts`. A test may also build earlier modules and all modules of its library, because they are more realistic
 * than a fake.
 */
export default {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      up: `\`{{user}}\` comes before \`{{owner}}\` in ${LIST} and may not use its port. Let \`{{user}}\` publish a stored event (\`appendEvents\`) that \`{{owner}}\` subscribes to (\`@Subscription\`), or move what \`{{user}}\` needs to an earlier module.`,
      owner: 'Only the area `{{owner}}` provides its port. Offer a port of your own: libs/ports/src/{{user}}.port.ts.',
      test: `A test of \`{{user}}\` may build only modules of its library and modules that come earlier in ${LIST}; \`{{owner}}\` comes later. Replace \`{{owner}}\` with a fake of its port or of its events (\`@Subscription\`).`,
      shared:
        'A file of libs/ports that belongs to no area may not use the port of one. Put the type into `{{owner}}.port.ts`.',
      later: `\`{{user}}\` comes before \`{{owner}}\` in ${LIST} and may not import it. Let \`{{user}}\` publish a stored event that \`{{owner}}\` subscribes to (\`@Subscription\`), or move what \`{{user}}\` needs to an earlier module.`,
      inside:
        '`{{user}}` may import the module `{{owner}}` only through its index.ts. Export the name there, or offer it through libs/ports/src/{{owner}}.port.ts.',
      outside:
        'This file is in no module folder of its library and may not import the module `{{owner}}`. Move the file into the folder of the module that uses it.',
    },
  },
  create(context) {
    const file = inWorkspace(context);
    const areas = areasOf(context);
    const area = areaOf(context);
    if (isTest(context)) return area ? testOf(context, area, areas) : {};
    const port = /^libs\/ports\/src\/([^/]+)\.port\.ts$/.exec(file)?.[1];
    const isShared = !port && file.startsWith('libs/ports/src/');
    if (!area && !port && !isShared && !/^(libs|apps)\//.test(file)) return {};

    const user = area?.module ?? area?.lib ?? port ?? path.dirname(file);
    // If a file is outside the module folders of its library, its first module uses it too.
    const position = area && !area.module ? areas.firstOf(area.lib) : areas.indexOf(user);
    /** The areas whose tokens this file has imported, by the local name of the token. */
    const owners = new Map();

    function portOwnerOf(source) {
      if (port || isShared) return /^\.\/([^/]+)\.port\.js$/.exec(source)?.[1];
      return PORT.exec(source)?.[1];
    }
    function check(node) {
      const source = node.source?.value;
      if (typeof source !== 'string') return;
      if (area) checkModule(node, source);
      const owner = portOwnerOf(source);
      if (!owner) return;
      const data = { user, owner };
      if (isShared) context.report({ node, messageId: 'shared', data });
      else if ((area ?? port) && areas.indexOf(owner) > position) context.report({ node, messageId: 'up', data });
      for (const specifier of node.specifiers ?? []) if (specifier.local) owners.set(specifier.local.name, owner);
    }
    /** An import of another module of the same library. */
    function checkModule(node, source) {
      const target = targetOf(context, source);
      const found = target && areas.moduleAt(target);
      if (!found || found.lib !== area.lib || found.name === area.module) return;
      const data = { user, owner: found.name };
      if (!area.module) {
        if (file !== `libs/areas/${area.lib}/src/index.ts`) context.report({ node, messageId: 'outside', data });
      } else if (areas.indexOf(found.name) > position) context.report({ node, messageId: 'later', data });
      else if (target !== `${found.folder}/index.js`) context.report({ node, messageId: 'inside', data });
    }
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: (node) => check({ ...node, source: node.source ?? node.argument?.literal, loc: node.loc }),
      'Property[key.name="provide"]'(node) {
        const owner = owners.get(node.value.name);
        if (owner && owner !== user) context.report({ node, messageId: 'owner', data: { user, owner } });
      },
    };
  },
};

function testOf(context, { lib, module }, areas) {
  const check = (node) => {
    const [, owner, sub] = AREA.exec(node.source?.value) ?? [];
    if (!owner) return;
    const named = areas.modulesOf(owner).find(({ name }) => name === sub);
    const position = named ? areas.indexOf(named.name) : areas.lastOf(owner);
    if (position > areas.lastOf(lib))
      context.report({ node, messageId: 'test', data: { user: module ?? lib, owner: sub ?? owner } });
  };
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  };
}
