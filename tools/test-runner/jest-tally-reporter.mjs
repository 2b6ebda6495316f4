import { appendFileSync } from 'node:fs';

/** Appends one line of counts per Jest run to the file of its option, for `npm test` to sum up over all projects. */
export default class TallyReporter {
  constructor(_globalConfig, { file }) {
    this.file = file;
  }

  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap((suite) =>
      suite.testResults
        .filter((test) => ['pending', 'todo', 'disabled'].includes(test.status))
        .map((test) => ({ file: suite.testFilePath, name: test.fullName })),
    );
    const line = {
      passed: results.numPassedTests,
      // A spec file that does not even load has no tests that could fail.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      failures: results.testResults.flatMap(failuresOf),
      skipped,
    };
    if (this.file) appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
}

/** How much of a message is repeated at the end of a run, in characters: the whole stands where the test ran. */
const MAX_MESSAGE = 600;

function failuresOf(suite) {
  const file = suite.testFilePath;
  // Jest gives what broke outside of a test, such as in `afterAll`, as a stack without a message.
  const { testExecError: broken } = suite;
  const failed = suite.testResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file, name: test.fullName, message: firstOf(test.failureMessages.join('\n')) }));
  return broken
    ? [...failed, { file, name: 'the file itself', message: firstOf(broken.message || broken.stack) }]
    : failed;
}

function firstOf(message) {
  // eslint-disable-next-line no-control-regex -- colours of a terminal
  return String(message)
    .replace(/\u001b\[[0-9;]*m/g, '')
    .slice(0, MAX_MESSAGE);
}
