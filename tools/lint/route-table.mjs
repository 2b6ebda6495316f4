// The table of docs/architecture.md that maps a tag or a path to the folder of its code:
//   node tools/lint/route-table.mjs prints it
//   node tools/lint/route-table.mjs --write writes it into the page
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { areasIn } from './areas.mjs';

const START = '<!-- routes: made by `node tools/lint/route-table.mjs --write` -->';
const END = '<!-- /routes -->';

/** Every published route: tag, `METHOD /path`, folder, and the Nest module that declares its controller. */
export function routesIn(root) {
  return areasIn(root).modules.flatMap((area) => {
    const folder = area.folder.includes('/src/') ? area.folder : `${area.folder}/src`;
    const files = readdirSync(path.join(root, folder), { recursive: true })
      .sort()
      .map((file) => path.posix.join(folder, file.split(path.sep).join('/')))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
    const modules = files.filter(({ file }) => file.endsWith('.module.ts'));
    return files
      .filter(({ file }) => file.endsWith('.controller.ts'))
      .flatMap(({ file, text }) => {
        const { controller, routes } = declarationsIn(file, text);
        const owner = modules.find((module) => new RegExp(`controllers:[^\\]]*\\b${controller}\\b`).test(module.text));
        const module = /export class (\w+Module)\b/.exec(owner?.text ?? '')?.[1];
        if (!module && routes.length > 0) throw new Error(`${file}: no module in ${folder} declares ${controller}`);
        return routes.map((route) => ({ ...route, folder: path.posix.dirname(file), module }));
      });
  });
}

function declarationsIn(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const routes = [];
  const constants = new Map();
  let controller;
  const visit = (node) => {
    if (ts.isClassDeclaration(node) && node.name?.text.endsWith('Controller')) controller = node.name.text;
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isStringLiteralLike(node.initializer))
      constants.set(node.name.getText(), node.initializer.text);
    if (ts.isCallExpression(node) && node.expression.getText() === 'Route' && ts.isDecorator(node.parent)) {
      const [spec] = node.arguments;
      const textOf = (name) => {
        const value = spec.properties.find((property) => property.name?.getText() === name)?.initializer;
        return constants.get(value?.text) ?? value?.text ?? '';
      };
      const route = { tag: textOf('tag'), method: textOf('method'), path: textOf('path') };
      // A path from the root is not in the OpenAPI document.
      if (!route.path.startsWith('//')) routes.push(route);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { controller, routes };
}

/** The table as on the page: one row for each tag, folder and module, sorted by tag. */
export function routeTable(root) {
  const rows = new Map();
  for (const { tag, method, path: route, folder, module } of routesIn(root)) {
    const key = [tag, folder, module].join('|');
    const row = rows.get(key) ?? { tag, folder, module, paths: new Map() };
    const name = route.replace(/:(\w+)/g, '{$1}');
    row.paths.set(name, [...(row.paths.get(name) ?? []), method]);
    rows.set(key, row);
  }
  const lines = [...rows.values()]
    .sort((a, b) => (a.tag === b.tag ? a.folder.localeCompare(b.folder) : a.tag.localeCompare(b.tag)))
    .map(({ tag, folder, module, paths }) => {
      const routes = [...paths].map(([name, methods]) => `\`${methods.join(', ')} ${name}\``).join('<br/>');
      return `| ${tag} | ${routes} | [${folder.replace('libs/areas/', '')}](../${folder}) | \`${module}\` |`;
    });
  return ['| tag | routes | folder in `libs/areas` | module |', '|---|---|---|---|', ...lines].join('\n');
}

/** The page with its table replaced. */
export function withRouteTable(page, table) {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`the page does not contain ${START} … ${END}`);
  return `${page.slice(0, start)}${START}\n\n${table}\n\n${page.slice(end)}`;
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const root = path.resolve(import.meta.dirname, '../..');
  const page = path.join(root, 'docs/architecture.md');
  if (process.argv.includes('--write'))
    writeFileSync(page, withRouteTable(readFileSync(page, 'utf8'), routeTable(root)));
  else console.log(routeTable(root));
}
