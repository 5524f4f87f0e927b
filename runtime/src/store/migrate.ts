// What a migration is told, and what it tells.

/** The formats before and after, and how many records were changed, where that is known. */
export type Migrated = { from: number; to: number; records?: number };

export type MigrationOptions = { isDryRun: boolean; onProgress: (records: number) => void };
