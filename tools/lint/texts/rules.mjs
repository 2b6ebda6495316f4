const SENTENCES = /[^.!?]+(?:[.!?]+(?!\s|$)[^.!?]*)*[.!?]*/g;
/**
 * A name with a dot, such as `docs/style.md`, does not end a sentence; the pattern above requires a space after the
 * dot.
 */
const sentencesOf = (text) => (text.match(SENTENCES) ?? []).map((sentence) => sentence.trim());

/** A textlint rule: no sentence has more than `max` words. */
export const sentenceLength = (context, { max = 40 } = {}) => ({
  [context.Syntax.Paragraph](node) {
    for (const sentence of sentencesOf(plainText(node))) {
      const count = sentence.split(/\s+/).length;
      if (count > max)
        context.report(
          node,
          new context.RuleError(`${count} words in a sentence, at most ${max}: "${sentence.slice(0, 60)} …"`),
        );
    }
  },
});

const CLAUSE = /^(?:What|Who|Whoever|Whom)\s(?!.*\?$)/;

/** A textlint rule: no sentence has a clause as its subject. */
export const clauseSubject = (context) => ({
  [context.Syntax.Paragraph](node) {
    for (const sentence of sentencesOf(plainText(node)))
      if (CLAUSE.test(sentence))
        context.report(node, new context.RuleError(`a clause is the subject: "${sentence.slice(0, 60)} …"`));
  },
});

/** The text of a node of Markdown or plain text, with code as one word. */
function plainText(node) {
  if (node.type === 'Str') return node.value;
  if (node.type === 'Code') return 'code';
  if (node.type === 'Break') return ' ';
  return (node.children ?? []).map(plainText).join('').replace(/\s+/g, ' ');
}
