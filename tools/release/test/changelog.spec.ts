import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';

const { releaseChangelog } = createRequire(import.meta.url)('../changelog.cjs');
const OLDER = '## [1.0.0] - 2026-01-01\n\n### Added\n\n- first\n';

it('moves unreleased entries under the version', () => {
  const text = `# Changelog\n\n## [Unreleased]\n\n### Breaking\n\n- createThing: gone\n\n${OLDER}`;
  expect(releaseChangelog(text, '1.1.0', '2026-02-03')).toBe(
    `# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-02-03\n\n### Breaking\n\n- createThing: gone\n\n${OLDER}`,
  );
});

it.each([
  ['without an entry', `# Changelog\n\n## [Unreleased]\n\n### Added\n\n${OLDER}`, /has no entries under/],
  ['without the chapter', `# Changelog\n\n${OLDER}`, /has no line/],
  ['that already has the version', `# Changelog\n\n## [Unreleased]\n\n- new\n\n## [1.1.0] - 2026-01-02\n`, /already/],
])('refuses a changelog %s', (_title, text, refusal) => {
  expect(() => releaseChangelog(text, '1.1.0', '2026-02-03')).toThrow(refusal);
});
