// Verifies the gateway's embedded stores, each in one snapshot.
import { UNREADABLE } from '@partner-loyalty/runtime/store/inspection.ts';
import { lmdbVerifier } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import { tableVerifier } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { openGraphTables } from '../graph/graphstore.lmdb.ts';
import { PROPOSALS, SUBGRAPH_SECRETS, SUBGRAPH_TOKENS } from '../graph/tables.ts';

const openGraphs = (root: RootDatabase) => ({
  ...openGraphTables(root),
  verifiers: [
    tableVerifier(root, SUBGRAPH_TOKENS, (tokenId) => `subgraph token ${tokenId}`),
    tableVerifier(root, PROPOSALS, (proposalId) => `proposal ${proposalId}`),
    tableVerifier(root, SUBGRAPH_SECRETS, (name) => `the secret of ${name}`),
  ],
});

export const verifyLmdbGraphs = lmdbVerifier(
  'graph',
  openGraphs,
  (tables, snapshot, inspection) => {
    const { report } = inspection;
    for (const verify of tables.verifiers) verify(snapshot, inspection);
    const { graphs, summaries } = tables;
    let count = 0;
    const unreadable = (version: number) => report(`graph ${version}`, 'the record cannot be read');
    for (const { key: version, value } of snapshot.records(graphs, unreadable)) {
      count += 1;
      if (value.version !== version) report(`graph ${version}`, 'the record has another version');
      const summary = snapshot.get(summaries, version);
      if (summary === undefined || summary === UNREADABLE || summary.version !== version)
        report(`graph ${version}`, 'the list of versions does not have it');
    }
    let expected = 0;
    for (const version of snapshot.keys(summaries)) {
      expected += 1;
      if (version !== expected) report(`graph ${expected}`, 'the version is missing');
      if (snapshot.get(graphs, version) === undefined)
        report(`graph ${version}`, 'the list of versions has it, but it does not exist');
      expected = version;
    }
    return count;
  },
);
