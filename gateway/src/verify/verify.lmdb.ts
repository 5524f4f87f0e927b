// Verifies the gateway's embedded stores, each in one snapshot.
import { type Inspection, UNREADABLE } from '@partner-loyalty/runtime/store/inspection.ts';
import { lmdbVerifier, type Snapshot } from '@partner-loyalty/runtime/store/snapshot.lmdb.ts';
import { tableVerifier } from '@partner-loyalty/runtime/store/table.lmdb.ts';
import type { RootDatabase } from 'lmdb';
import { openGraphTables } from '../graph/graphstore.lmdb.ts';
import { PROPOSALS, SUBGRAPH_SECRETS, SUBGRAPH_TOKENS } from '../graph/tables.ts';
import { openKeyTables } from '../identity/keystore.lmdb.ts';
import { OUTCOMES } from '../identity/outcomes.ts';
import { CONSOLE_SESSIONS, STAFF, STAFF_ADDRESSES, STAFF_NOTICES } from '../identity/staff.ts';
import { checkShape, KEY, PARTNER } from './shapes.ts';

type Report = Inspection['report'];

const openKeys = (root: RootDatabase) => ({
  ...openKeyTables(root),
  verifiers: [
    tableVerifier(root, STAFF, (staffId) => `staff ${staffId}`),
    // Not the address.
    tableVerifier(root, STAFF_ADDRESSES, () => 'an address of staff'),
    tableVerifier(root, CONSOLE_SESSIONS, (id) => `console session ${id}`),
    tableVerifier(root, STAFF_NOTICES, (id) => `notice ${id}`),
    tableVerifier(root, OUTCOMES, (id) => `outcome of form ${id}`),
  ],
});

export const verifyLmdbKeys = lmdbVerifier('keys', openKeys, (tables, snapshot, inspection) => {
  const { report } = inspection;
  for (const verify of tables.verifiers) verify(snapshot, inspection);
  checkKeyIndexes(tables, snapshot, report);
  return checkPartners(tables, snapshot, report) + checkKeys(tables, snapshot, report);
});

type KeyTables = ReturnType<typeof openKeyTables>;

function checkPartners({ partners }: KeyTables, snapshot: Snapshot, report: Report) {
  let count = 0;
  const unreadable = (id: string) => report(`partner ${id}`, 'the record cannot be read');
  for (const { key, value } of snapshot.records(partners, unreadable)) {
    count += 1;
    checkShape(PARTNER, value, (problem) => report(`partner ${key}`, problem));
    if (value.partnerId !== key) report(`partner ${key}`, 'the record has another ID');
  }
  return count;
}

function checkKeys(tables: KeyTables, snapshot: Snapshot, report: Report): number {
  const { partners, keys, keyIdByHash, keyIdsByPartner } = tables;
  let count = 0;
  const unreadable = (keyId: string) => report(`key ${keyId}`, 'the record cannot be read');
  for (const { key: keyId, value } of snapshot.records(keys, unreadable)) {
    count += 1;
    const reportKey = (problem: string) => report(`key ${keyId}`, problem);
    if (!checkShape(KEY, value, reportKey)) continue;
    const { partnerId, hash } = value;
    if (value.keyId !== keyId) reportKey('the record has another ID');
    if (snapshot.get(partners, partnerId) === undefined)
      reportKey(`the key is of partner ${partnerId}, which does not exist`);
    if (snapshot.get(keyIdByHash, hash) !== keyId) reportKey('the hash does not lead to the key');
    const ofPartner = snapshot.get(keyIdsByPartner, partnerId);
    if (!Array.isArray(ofPartner) || !ofPartner.includes(keyId))
      reportKey(`partner ${partnerId} does not list the key`);
  }
  return count;
}

function checkKeyIndexes(
  { keys, keyIdByHash, keyIdsByPartner }: KeyTables,
  snapshot: Snapshot,
  report: Report,
): void {
  const isKeyWith = (keyId: string, field: 'hash' | 'partnerId', value: string) => {
    const key = snapshot.get(keys, keyId);
    return key === UNREADABLE || key?.[field] === value;
  };
  const unreadable = () => report('the index of keys', 'an entry cannot be read');
  for (const { key: hash, value } of snapshot.records(keyIdByHash, unreadable))
    if (!isKeyWith(value, 'hash', hash)) report(`key ${value}`, 'another hash leads to the key');
  for (const { key: partnerId, value } of snapshot.records(keyIdsByPartner, unreadable))
    for (const keyId of value)
      if (!isKeyWith(keyId, 'partnerId', partnerId))
        report(`key ${keyId}`, `partner ${partnerId} lists the key, which is not its own`);
}

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
