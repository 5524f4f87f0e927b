// Finds variables that were meant to be settings, by names that are close to theirs.
import { type Misspelled, type ProcessName, SETTINGS, type SettingRow } from './table.ts';

/** What other services call them, if that is not close. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  MONGO_URI: 'MONGODB_URL',
  DATABASE_URL: 'MONGODB_URL',
  DATABASE_URI: 'MONGODB_URL',
  LOGGER_LEVEL: 'LOG_LEVEL',
  LOGGING_LEVEL: 'LOG_LEVEL',
  PINO_LOG_LEVEL: 'LOG_LEVEL',
};

/** Variables of npm and of Node, and those that Kubernetes sets for each service. */
const USUAL = /^(NPM_|NODE_)|_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/;
const LINK = /^(tcp|udp|sctp):\/\//;

const ROWS: readonly Pick<SettingRow, 'name' | 'usedBy'>[] = Object.values(SETTINGS);
const NAMES: ReadonlySet<string> = new Set(ROWS.map(({ name }) => name));

/** In the order of the variables, for settings that the process reads. */
export function misspelledIn(
  env: Readonly<Record<string, string | undefined>>,
  process: ProcessName,
): Misspelled[] {
  const rows = ROWS.filter(({ usedBy }) => usedBy?.includes(process) !== false);
  return Object.entries(env).flatMap(([name, value = '']) => {
    const typed = name.toUpperCase();
    if (value.trim() === '' || NAMES.has(name) || USUAL.test(typed) || LINK.test(value)) return [];
    const row = rows.find((each) => ELSEWHERE[typed] === each.name || isClose(typed, each.name));
    return row ? [{ name, meant: row.name, isSet: (env[row.name]?.trim() ?? '') !== '' }] : [];
  });
}

function isClose(typed: string, name: string): boolean {
  return name.length >= 6 && isWithin(typed, name, name.length >= 8 ? 2 : 1);
}

/** Whether so many characters, added, removed or replaced, make one text of the other. */
function isWithin(one: string, other: string, edits: number): boolean {
  if (one === other) return true;
  if (edits === 0 || Math.abs(one.length - other.length) > edits) return false;
  let same = 0;
  while (one[same] === other[same]) same += 1;
  const [left, right] = [one.slice(same), other.slice(same)];
  return (
    isWithin(left.slice(1), right.slice(1), edits - 1) ||
    isWithin(left.slice(1), right, edits - 1) ||
    isWithin(left, right.slice(1), edits - 1)
  );
}
