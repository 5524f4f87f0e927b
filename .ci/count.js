// Prints how many tests of a jest run passed and failed; what was skipped or never ran counts as failed. Usage: count.js RESULTS.
import { existsSync, readFileSync } from 'node:fs';

const [, , file = ''] = process.argv;
if (!existsSync(file)) {
  console.error('the run ended without results');
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
  // A run may fail without a failing test: no test at all, or a failing teardown.
  console.log(numPassedTests, failed > 0 || results.success ? failed : 1);
}
