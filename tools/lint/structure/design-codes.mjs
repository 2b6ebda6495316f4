import { matches } from './workspace.mjs';

const CODE = '(?:[A-Z]\\d{1,2}|\\d{1,2}\\.\\d{1,2})[a-z]?';
/** Matches `it('A8: …')`, `describe('10.9c: …')`, and a title that follows `it.each(…)`. */
const TITLE = new RegExp(`['"\`](${CODE})[:,]\\s`, 'g');
const NOTE =
  /\b(?:api|architecture|performance|kubernetes|autopilot|testing|engines)\.md \d[\d.]*|\bthe note on [a-z]+ [a-z]+/g;

/** A code of an old issue or design means nothing to a reader who has only this repository. */
export default {
  name: 'design-codes',
  says: 'a code of an old issue or design in a test title, a comment or a page',
  find(workspace) {
    return workspace.files.flatMap((file) => {
      if (!/\.(?:ts|tsx|mts|mjs|md)$/.test(file) || file === 'CHANGELOG.md' || file.startsWith('tools/lint/'))
        return [];
      const text = workspace.text(file) ?? '';
      const titles = /\.spec\.tsx?$/.test(file) ? matches(text, TITLE) : [];
      return [
        ...titles.map(({ match, line }) => ({
          file,
          line,
          text: `delete \`${match[1]}:\`; keep the sentence of the title`,
        })),
        ...matches(text, NOTE).map(({ match, line }) => ({
          file,
          line,
          text: `\`${match[0]}\` is not a page of this repository: write its content here, or delete the reference`,
        })),
      ];
    });
  },
};
