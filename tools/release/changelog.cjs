const UNRELEASED = '## [Unreleased]';

/**
 * Returns CHANGELOG.md with the text under Unreleased moved under the version, and an empty Unreleased above it.
 * @throws Error if there is nothing to release, or if the version is already listed
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
