// The order of the test files: kinds that take long first, so that no long file runs last, alone.
import TestSequencer from '@jest/test-sequencer';

const KINDS = [
  // A minute or more each, most of which is spent waiting.
  /\/test\/(faults\/(outages|signin)|memory|e2e\/(reference|reconciliation|teams|webhooks))|\/(merge|supergraph)\.test/,
  /\/test\/(faults|security)\//,
  /\/test\/e2e\//,
  /\.stores\.test\.ts$/,
  /./,
];

const kindOf = ({ path }) => KINDS.findIndex((kind) => kind.test(path));

export default class extends TestSequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => kindOf(one) - kindOf(other));
  }
}
