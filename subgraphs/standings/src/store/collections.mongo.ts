// The collections of standings and programs on MongoDB: their documents, validators and index.
import { openCollection } from '@partner-loyalty/runtime/mongo';
import type { Collection, Db, Document } from 'mongodb';
import type { Program } from '../rules/program.ts';
import type { Standing } from '../rules/standing.ts';

/**
 * The activities of one member with one partner in one membership year, and their sums. One
 * document is the unit of atomicity, so that no transaction is needed.
 */
export type StandingDocument = Standing & { _id: string; activities: ActivityEntry[] };
export type ActivityEntry = { id: string; points: number; stays: number; occurredAt: Date };
export type ProgramDocument = Program & { _id: string };
export type Collections = {
  standings: Collection<StandingDocument>;
  programs: Collection<ProgramDocument>;
};

/**
 * Opens the collections with their validators and the index by which an activity ID is in at most
 * one document. Within a document, the filter of `recordOperation` keeps the IDs unique.
 */
export async function openCollections(db: Db): Promise<Collections> {
  const [standings, programs] = await Promise.all([
    openCollection<StandingDocument>(db, 'standings', SCHEMAS.standings, [
      [{ 'activities.id': 1 }, { unique: true }],
    ]),
    openCollection<ProgramDocument>(db, 'programs', SCHEMAS.programs),
  ]);
  return { standings, programs };
}

const text = { bsonType: 'string', minLength: 1 };
const int = { bsonType: 'int' };
const SCHEMAS = {
  standings: {
    bsonType: 'object',
    required: ['_id', 'points', 'stays', 'activities'],
    properties: {
      _id: { bsonType: 'string', minLength: 5 },
      points: int,
      stays: int,
      activities: {
        bsonType: 'array',
        minItems: 1,
        items: {
          bsonType: 'object',
          required: ['id', 'points', 'stays', 'occurredAt'],
          properties: { id: text, points: int, stays: int, occurredAt: { bsonType: 'date' } },
        },
      },
    },
  },
  programs: {
    bsonType: 'object',
    required: ['_id', 'membershipYear', 'tiers'],
    properties: {
      _id: text,
      membershipYear: {
        bsonType: 'object',
        required: ['start', 'timeZone'],
        properties: {
          start: { bsonType: 'string', pattern: '^[0-9]{2}-[0-9]{2}$' },
          timeZone: text,
        },
      },
      tiers: {
        bsonType: 'array',
        minItems: 1,
        items: {
          bsonType: 'object',
          required: ['name', 'points'],
          properties: { name: text, points: { bsonType: 'int', minimum: 0 } },
        },
      },
    },
  },
} satisfies Record<keyof Collections, Document>;
