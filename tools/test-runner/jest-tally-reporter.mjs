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
      skipped,
    };
    if (this.file) appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
}
