import { typesIn, unusedReasons } from './workspace.mjs';

/** Within each of these, a name has one meaning. */
const SCOPES = { server: /^libs\/(?!sdk\/)/, console: /^apps\/console\//, cli: /^apps\/cli\//, sdk: /^libs\/sdk\// };

/** Names that several files may export: the name, and the reason. */
export const REASONS = {
  Condition: 'a name of the Kubernetes API in libs/targets/kubernetes',
  Deployment: 'a name of the Kubernetes API in libs/targets/kubernetes',
};

/** If two types have the same name, a search for the name leads to the wrong file. */
export default {
  name: 'unique-type-names',
  says: "a type name that two files export, within the server's libs or within one client",
  find(workspace, reasons = REASONS) {
    const used = new Set();
    const found = duplicateTypes(workspace).flatMap(({ name, declarations }) => {
      if (reasons[name]) {
        used.add(name);
        return [];
      }
      return declarations.map(({ file, line }) => {
        const others = declarations.filter((one) => one.file !== file).map((one) => one.file);
        return {
          file,
          line,
          text: `\`${name}\` is also exported by ${others.join(', ')}: add the subject to the name`,
        };
      });
    });
    return [...found, ...unusedReasons('unique-type-names', reasons, used)];
  },
};

/** Every name that two files of a scope declare and, by default, export. A re-export is not a declaration. */
export function duplicateTypes(workspace, isCounted = ({ isExported }) => isExported) {
  return Object.values(SCOPES).flatMap((scope) => {
    const byName = new Map();
    for (const file of workspace.sources.filter(
      (one) => scope.test(one) && /\/src\/.*\.tsx?$/.test(one) && !/\.spec\./.test(one),
    ))
      for (const type of typesIn(workspace.text(file)).filter(isCounted))
        byName.set(type.name, [...(byName.get(type.name) ?? []), { file, line: type.line }]);
    return [...byName]
      .filter(([, declarations]) => new Set(declarations.map(({ file }) => file)).size > 1)
      .map(([name, declarations]) => ({ name, declarations }));
  });
}
