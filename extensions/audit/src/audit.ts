// The audit log: members that partners were shown or changed, and what staff and publishers did.
import type { Audit } from '@partner-loyalty/gateway/audit.ts';
import { partnerIdOf } from '@partner-loyalty/gateway/identity/authenticate.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { outputToStdout } from '@partner-loyalty/runtime/observe/output.ts';
import { withoutSecrets } from '@partner-loyalty/runtime/observe/secrets.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { type AuditSink, openAuditFile } from './file.ts';

/** In characters: beyond them, the lines of a response name members without their fields. */
const MAX_NAMES = 262_144;

/** Undefined if AUDIT_LOG is not set. Throws if the file cannot be opened. */
export function openAudit(
  { auditLog: path }: Pick<Settings, 'auditLog'>,
  observe: { log: Log; metrics: Metrics },
): Audit | undefined {
  if (path === undefined) return undefined;
  return createAudit(path === '-' ? openStdout(observe.metrics) : openAuditFile(path, observe));
}

function createAudit(sink: AuditSink): Audit {
  return {
    records: (principal) => partnerIdOf(principal) !== undefined,
    record(requestId, principal, accesses) {
      if (accesses.isEmpty) return;
      const caller = {
        time: new Date().toISOString(),
        partner: partnerIdOf(principal),
        keyId: principal.surface === 'partner' ? principal.id : undefined,
        // Callers choose it, and some of them paste a secret there.
        requestId: withoutSecrets(requestId),
      };
      const head = JSON.stringify(caller).slice(0, -1);
      let left = MAX_NAMES;
      for (const { operation, memberId, fields } of accesses) {
        const names = left > 0 ? JSON.stringify(fields) : '[]';
        left -= names.length;
        const member = JSON.stringify({ operation, memberId }).slice(1, -1);
        sink.write(`${head},${member},"fields":${names}}\n`);
      }
    },
    staff({ requestId, staff: { staffId, partnerId }, ...action }) {
      const caller = { partner: partnerId, staffId, requestId: withoutSecrets(requestId) };
      sink.write(auditLine({ ...caller, ...action }));
    },
    graph: (action) => sink.write(auditLine(action)),
    state: () => sink.state(),
    close: () => sink.close(),
  };
}

export function auditLine(action: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...action })}\n`;
}

/** Shares stdout with the log, line by line. */
function openStdout(metrics: Metrics): AuditSink {
  const stdout = outputToStdout();
  return {
    write(line) {
      metrics.audit(stdout.isLosing() ? 'lost' : 'written', 1);
      stdout.write(line);
    },
    state: () => (stdout.isLosing() ? 'degraded' : 'up'),
    close: async () => stdout.flush(),
  };
}
