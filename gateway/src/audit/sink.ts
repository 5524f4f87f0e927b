// Where the lines of the audit log go.
import type { DependencyState } from '@partner-loyalty/runtime/process/readiness.ts';

/** Implemented by file.ts, and by audit.ts on stdout. */
export type AuditSink = {
  /** Never waits and never throws. */
  write(line: string): void;
  /** `degraded` if lines cannot be written. */
  state(): DependencyState;
  /** Writes what is left. Nothing can be written afterwards. */
  close(): Promise<void>;
};
