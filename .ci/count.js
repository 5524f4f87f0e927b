// Prints how many tests of a jest run passed and failed. A skipped test counts as failed.
// Usage: count.js RESULTS, where RESULTS is the file that jest wrote with --outputFile.
import { existsSync, readFileSync } from 'node:fs';

const [, , file = ''] = process.argv;
if (!existsSync(file)) {
  console.error('the run wrote no results');
  console.log('0 1');
} else {
  const results = JSON.parse(readFileSync(file, 'utf8'));
  const {
    numPassedTests,
    numFailedTests,
    numPendingTests,
    numTodoTests,
    numRuntimeErrorTestSuites,
    testResults,
  } = results;
  for (const { assertionResults } of testResults) {
    for (const { status, fullName } of assertionResults)
      if (['pending', 'todo', 'skipped'].includes(status)) console.error(`skipped: ${fullName}`);
  }
  const failed = numFailedTests + numPendingTests + numTodoTests + numRuntimeErrorTestSuites;
  // A run can fail without a failing test, for example if there are no tests or the teardown fails.
  console.log(numPassedTests, failed > 0 || results.success ? failed : 1);
}
