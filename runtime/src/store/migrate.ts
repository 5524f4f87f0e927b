// The options and the result of a migration.

/** The formats before and after, and how many records were changed, where that is known. */
export type Migrated = { from: number; to: number; records?: number };

export type MigrationOptions = { isDryRun: boolean; onProgress: (records: number) => void };
