/**
 * The two word lists of `docs/style.md`: `{ phrases, words }`, each a list of `[pattern, advice]` for textlint's
 * terminology rule. The first column of a row lists alternatives, separated by commas, and the second column the words
 * to use.
 */
export function dictionaryIn(page) {
  return { phrases: rowsBelow(page, '## Phrases to replace'), words: rowsBelow(page, '## Words to check') };
}

function rowsBelow(page, heading) {
  const [, section] = page.split(`${heading}\n`);
  if (!section) throw new Error(`docs/style.md has no heading "${heading}"`);
  const rows = [...section.split('\n## ')[0].matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1);
  return rows.flatMap(([, bad, good]) =>
    bad.split(', ').map((phrase) => [phrase.trim().replaceAll(' ', String.raw`\s`), good.trim()]),
  );
}
