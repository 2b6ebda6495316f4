const UNRELEASED = '## [Unreleased]';

/**
 * CHANGELOG.md with what stands under Unreleased moved under the version, and Unreleased empty above it.
 * @throws if there is nothing to release, or the version stands there already
 */
exports.releaseChangelog = function releaseChangelog(text, version, date) {
  const title = `## [${version}]`;
  const [before, after] = text.split(`\n${UNRELEASED}\n`);
  if (after === undefined) throw new Error(`CHANGELOG.md has no line "${UNRELEASED}"`);
  if (after.includes(`\n${title}`)) throw new Error(`CHANGELOG.md already has ${title}`);
  const next = after.search(/^## /m);
  const entries = next < 0 ? after : after.slice(0, next);
  if (!/^[-*] /m.test(entries)) throw new Error(`CHANGELOG.md has no entries under "${UNRELEASED}"`);
  return `${before}\n${UNRELEASED}\n\n${title} - ${date}\n${after}`;
};
