import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Counts the tests of a Jest run, for the sums of `npm test` and `.ci/run`. Appends a line to the file of its option.
 * Without one it writes `test-output/tally.json` in the project, which Nx keeps as an output of the target `test`.
 */
export default class TallyReporter {
  constructor(globalConfig, { file } = {}) {
    this.file = file;
    this.rootDir = globalConfig.rootDir;
  }

  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap((suite) =>
      suite.testResults
        .filter((test) => ['pending', 'todo', 'disabled'].includes(test.status))
        .map((test) => ({ file: suite.testFilePath, name: test.fullName })),
    );
    const line = `${JSON.stringify({
      passed: results.numPassedTests,
      // A spec file that does not load has no tests that could fail.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      failures: results.testResults.flatMap(failuresOf),
      skipped,
    })}\n`;
    if (this.file) return appendFileSync(this.file, line);
    mkdirSync(path.join(this.rootDir, 'test-output'), { recursive: true });
    writeFileSync(path.join(this.rootDir, 'test-output/tally.json'), line);
  }
}

/**
 * How much of a message is repeated at the end of a run, in characters. The whole message is printed after its test.
 */
const MAX_MESSAGE = 600;

function failuresOf(suite) {
  const file = suite.testFilePath;
  // Jest reports a failure outside a test, such as in `afterAll`, as a stack without a message.
  const { testExecError: broken } = suite;
  const failed = suite.testResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file, name: test.fullName, message: startOf(test.failureMessages.join('\n')) }));
  return broken
    ? [...failed, { file, name: 'the file itself', message: startOf(broken.message || broken.stack) }]
    : failed;
}

function startOf(message) {
  return String(message)
    .replace(/\u001b\[[0-9;]*m/g, '')
    .slice(0, MAX_MESSAGE);
}
