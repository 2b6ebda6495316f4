import ts from 'typescript';
import { unusedReasons } from './workspace.mjs';

/** Words without a single meaning in this repository, and the words to use instead. */
const WORDS = {
  lane: 'connection, queue or priority',
  turn: 'step run or batch',
  room: 'capacity',
  place: 'slot, position, location or file',
};
const FORMS = Object.fromEntries(Object.keys(WORDS).flatMap((word) => [word, `${word}s`].map((form) => [form, word])));
/** Ordinary English within a longer name: `turnOff`, `inPlace`. */
const ORDINARY = /turns?(?:Away|Back|Down|Into|Off|On|Over|Up)(?![a-z])|inPlace(?![a-z])/i;

/** Names that are stored or sent: `name` or `path/of/file.ts#name`, and what stores or reads them. */
export const REASONS = {
  'apps/api/test/kubernetes/kubernetes-hands.e2e.spec.ts#place': "a field of the api's answers",
  'apps/console/src/screens/deployment/events-panel.tsx#place': "a field of the api's answers",
  'libs/areas/instances/src/deployment-instances/deployment-instances.service.ts#place':
    'read from the column `place`, and a field of the answer',
  'libs/areas/instances/src/lifecycle/instance-transitions.ts#place': 'written to the column `place`',
  'libs/areas/instances/src/lifecycle/server-observations.ts#place': 'read from the column `place`',
  'libs/areas/instances/test/target-bed.ts#place': 'read from the column `place`',
  'libs/targets/driver/src/driver.ts#place': 'a field of what a driver observes, stored as the column `place`',
};

/** A word with several meanings makes the reader stop at each of its uses. */
export default {
  name: 'words',
  says: 'a declared name or a file name with the word lane, turn, room or place',
  find(workspace, reasons = REASONS) {
    const used = new Set();
    const found = workspace.sources.flatMap((file) => {
      // The name of a migration is stored with the schema.
      if (file.includes('/migrations/')) return [];
      return namesIn(file, workspace.text(file)).flatMap(({ name, line }) => {
        const word = removedWord(name);
        if (!word) return [];
        const reason = [name, `${file}#${name}`].find((key) => reasons[key]);
        if (reason) {
          used.add(reason);
          return [];
        }
        return [{ file, line, word, text: `\`${name}\`: \`${word}\` has no meaning here; use ${WORDS[word]}` }];
      });
    });
    return [...found, ...unusedReasons('words', reasons, used)];
  },
};

function removedWord(name) {
  if (ORDINARY.test(name)) return undefined;
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  return words.map((word) => FORMS[word.toLowerCase()]).find(Boolean);
}

const CANDIDATE =
  /(?:\b|_)(?:lane|turn|room|place)s?(?![a-z])|(?:Lane|Turn|Room|Place)s?(?![a-z])|(?:LANE|TURN|ROOM|PLACE)/;
const SILENT = /^[ \t]*(?:\/?\*|\/\/).*$|\s\/\/ .*$|'[^'\n]*'/gm;

/**
 * The names that a file declares, and the file's own name. A full parse is slow, so only files with such a word outside
 * comments are parsed.
 */
function namesIn(file, text) {
  const found = [{ name: file.slice(file.lastIndexOf('/') + 1).replace(/\.[a-z]+$/, ''), line: 1 }];
  if (!CANDIDATE.test(text.replace(SILENT, ''))) return found;
  // Fields of these classes are columns and JSON.
  const hasStoredFields = /\.(?:dto|entity)\.ts$/.test(file);
  const source = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  const visit = (node) => {
    const isStored = hasStoredFields && ts.isPropertyDeclaration(node);
    if (isDeclaration(node) && !isStored)
      found.push({ name: node.name.text, line: source.getLineAndCharacterOfPosition(node.name.end).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A key of an object literal and an imported name are declared elsewhere. */
function isDeclaration(node) {
  if (!node.name || !(ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name))) return false;
  return !(
    ts.isPropertyAccessExpression(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isImportSpecifier(node) ||
    ts.isExportSpecifier(node) ||
    ts.isMetaProperty(node)
  );
}
