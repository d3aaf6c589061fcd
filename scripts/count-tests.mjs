// Adds up vitest's JSON reports and prints the sum as one line: N passed, N failed[, N skipped].
// A report that is missing counts nothing: its step has failed by then, or never ran.
import { existsSync, readFileSync } from 'node:fs';

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) continue;
  const report = JSON.parse(readFileSync(file, 'utf8'));
  sum.passed += report.numPassedTests;
  sum.failed += report.numFailedTests + brokenFiles(report);
  sum.skipped += report.numPendingTests + report.numTodoTests;
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed${skipped}\n`);

/** Test files that failed without a failing test: they did not load, or a hook of theirs threw. */
function brokenFiles(report) {
  return report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
}
