import { expect, it } from '@jest/globals';
import { notedOperations } from './check.js';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added
- listThings: new

### Breaking
- \`createThing\`, dropThing: send a name,
  see: the guide
- without an operation
* moveThing,
  turnThing: gone

### Fixed
- readThing: a typo

## [1.0.0] - 2026-01-01

### Breaking
- oldThing: gone
`;

it('the notes on unreleased changes are read', () => {
  expect([...notedOperations(CHANGELOG)]).toEqual(['createThing', 'dropThing', 'moveThing', 'turnThing']);
});

it.each(['', '# Changelog\n', '## [Unreleased]\n\n### Added\n- createThing: new\n'])('no note is in %j', (text) => {
  expect(notedOperations(text).size).toBe(0);
});
