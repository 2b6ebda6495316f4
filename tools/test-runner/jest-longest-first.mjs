import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** A computed limit begins with its literal part: `jest.setTimeout(300_000 + seconds * 1_000)`. */
const TIMEOUT = /^jest\.setTimeout\(([\d_]+)/m;

/**
 * Begins with the suites that have the longest timeouts, so that none of them runs alone at the end. In a fresh clone
 * without measured times, Jest would sort by the size of the files.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const asked = new Map(tests.map((test) => [test, timeoutOf(test.path)]));
    return super.sort(tests).sort((a, b) => asked.get(b) - asked.get(a));
  }
}

function timeoutOf(file) {
  return Number(TIMEOUT.exec(readFileSync(file, 'utf8'))?.[1].replaceAll('_', '') ?? 0);
}
