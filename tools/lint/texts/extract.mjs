import ts from 'typescript';
import { isProduct } from '../structure/workspace.mjs';

/**
 * The texts that people read in source files: comments, texts for users and titles of tests.
 *
 * Returns `{ file, line, kind, text }`. The kind is `comment`, `text` or `title`, and each gap of a template is `…`. A
 * string without two words in a row is a name, a path or a code. Strings that a machine reads (SQL, scripts) do not
 * count as texts.
 */
export function textsIn(file, source) {
  if (/\.(?:ts|tsx|mts|mjs)$/.test(file)) return textsInScript(file, source);
  if (/\.(?:sh|ya?ml)$|^\.ci\/|(?:^|\/)(?:Dockerfile|Containerfile|\.env\.example)/.test(file))
    return hashComments(file, source);
  if (/NOTES\.txt$/.test(file)) return [{ file, line: 1, kind: 'text', text: source }];
  return [];
}

/** Also `kubeIt` and others that run a test under a condition. */
const TITLES = /^(?:it|test|describe|each)$|It$/;
const IS_SPEC = /\.spec\.tsx?$/;
/** Two words; the first has at least two letters. */
const SENTENCE = /[A-Za-z]{2}[,;:]? +(?:…|[`'"(]?[A-Za-z])/;
/** SQL, code, types and classes of CSS. */
const MACHINE = [
  /^\s*(?:select|insert into|update \w+ |delete from|with \w+ as|create (?:\w+ )*(?:table|index|function|trigger|policy|view|role)|alter|drop|grant|revoke|comment on|lock table|vacuum)\b/,
  /^\s*(?:from|where|and|or|order by|group by|left join|join|returning|values|set|on conflict|exists|case when|import|export|const)\b.*[=(<>.]/,
  /^\s*[<{[(]|=>|\$\d|::\w+|^use strict$|\b(?:var|rgba?|calc)\(/,
  /(?:^|\s)(?:flex|grid|border|rounded|(?:text|bg|border|rounded|font)-[a-z]+|(?:[pmgw]|gap|px|py|mt|mb)-\d\S*)(?:\s|$)/,
];
const isMachineText = (text) => MACHINE.some((pattern) => pattern.test(text));

function textsInScript(file, source) {
  const parsed = ts.createSourceFile(
    file,
    source,
    { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
    true,
  );
  const found = [];
  const add = (kind, position, text) =>
    found.push({ file, line: parsed.getLineAndCharacterOfPosition(position).line + 1, kind, text });
  const kindOf = (node) => {
    if (IS_SPEC.test(file)) return isTitle(node) ? 'title' : undefined;
    const isRun = isProduct(file) || (/^(?:tools|apps)\//.test(file) && !file.includes('/test/'));
    return isRun ? 'text' : undefined;
  };
  const visit = (node) => {
    if (isWords(node)) {
      const kind = kindOf(node);
      const text = wordsOf(node);
      if (kind && SENTENCE.test(text) && !isMachineText(text) && !isMachineRead(node))
        add(kind, node.getStart(parsed), text);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  for (const { pos, end } of commentsIn(source, parsed)) {
    const text = plain(source.slice(pos, end));
    if (SENTENCE.test(text) && !/^(?:eslint|@ts-|prettier|v8 |c8 )/.test(text)) add('comment', pos, text);
  }
  return found.sort((one, other) => one.line - other.line);
}

const isWords = (node) =>
  ts.isStringLiteral(node) ||
  ts.isNoSubstitutionTemplateLiteral(node) ||
  ts.isTemplateExpression(node) ||
  ts.isJsxText(node);

function wordsOf(node) {
  if (!ts.isTemplateExpression(node)) return node.text.trim();
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…').trim();
}

/** The title of a test, also after `it.each(…)`. */
function isTitle(node) {
  const call = node.parent;
  return parentIsCall(call) && call.arguments[0] === node && TITLES.test(firstName(call.expression) ?? '');
}

const parentIsCall = (node) => node !== undefined && ts.isCallExpression(node);

function firstName(expression) {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isTaggedTemplateExpression(expression)) return firstName(expression.tag);
  // `(isInstalled ? it : it.skip)('…')`
  if (ts.isConditionalExpression(expression)) return firstName(expression.whenTrue);
  return expression.expression && firstName(expression.expression);
}

/** A class name of a style, the path of a module and a type are not texts. */
function isMachineRead(node) {
  const { parent } = node;
  if (ts.isJsxAttribute(parent) && /^(?:className|class|style|d|viewBox|points)$/.test(parent.name.getText()))
    return true;
  return (
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    ts.isLiteralTypeNode(parent) ||
    ts.isTaggedTemplateExpression(parent)
  );
}

function commentsIn(source, parsed) {
  const found = new Map();
  const visit = (node) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ])
      found.set(range.pos, range);
    for (const child of node.getChildren(parsed)) visit(child);
  };
  visit(parsed);
  return joined(
    [...found.values()].sort((one, other) => one.pos - other.pos),
    source,
  );
}

/** Consecutive lines of `//` are one text. */
function joined(ranges, source) {
  const found = [];
  for (const range of ranges) {
    const last = found.at(-1);
    const isLine = source.startsWith('//', range.pos);
    if (last?.isLine && isLine && /^\n[ \t]*$/.test(source.slice(last.end, range.pos))) last.end = range.end;
    else found.push({ pos: range.pos, end: range.end, isLine });
  }
  return found;
}

const plain = (comment) =>
  comment
    .replace(/^\/\*+|(?<!\*)\*+\/$/g, '')
    .replace(/^[ \t]*(?:\/{2,}|\*(?!\/))[ \t]?/gm, '')
    .trim();

function hashComments(file, source) {
  const found = [];
  source.split('\n').forEach((content, index) => {
    const whole = /^\s*#(?!!) ?(.*)$/.exec(content)?.[1];
    const text = whole ?? / # (.*)$/.exec(content)?.[1];
    if (text === undefined) return;
    const last = found.at(-1);
    if (whole !== undefined && last?.end === index) {
      last.text += `\n${text}`;
      last.end = index + 1;
    } else
      found.push({ file, line: index + 1, kind: 'comment', text, end: whole === undefined ? undefined : index + 1 });
  });
  return found.filter(({ text }) => SENTENCE.test(text)).map(({ end: _, ...rest }) => rest);
}
