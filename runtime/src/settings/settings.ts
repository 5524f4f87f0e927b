// Reads the settings of a process, and is the only place that reads process.env.
import { contradictions } from './contradictions.ts';
import { misspelledIn } from './misspelled.ts';
import { faultOf, readSubgraphVariables } from './subgraphs.ts';
import { type ProcessName, SETTINGS, type SettingRow, type Settings } from './table.ts';

const NAMES = new Set(Object.values(SETTINGS).map(({ name }) => name));

/**
 * Returns the settings of a process. An empty variable is the same as an unset one. Throws one
 * Error that lists all faults, one per line, without repeating secrets.
 */
export function readSettings(
  env: Record<string, string | undefined>,
  process: ProcessName,
): Settings {
  const faults = new Map<string, string>();
  const values: Record<string, unknown> = {};
  // Cast: a table of rows of different types, each of which sets the value of its own key.
  for (const [key, row] of Object.entries(SETTINGS as Record<string, SettingRow>)) {
    // Cast: `fallback` reads only rows above its own, whose values are known by now.
    values[key] = row.fallback?.(values as Settings, process);
    const text = row.usedBy?.includes(process) !== false ? env[row.name]?.trim() : undefined;
    if (text === undefined || text === '') continue;
    const { success, data, error } = row.schema.safeParse(text);
    if (success) values[key] = data;
    else faults.set(row.name, faultOf(error.issues[0]?.message, row, text));
  }
  const baseUrls = [SETTINGS.sandboxUrl, SETTINGS.productionUrl];
  const areSet = baseUrls.map(({ name }) => (env[name]?.trim() ?? '') !== '');
  if (values.environment !== 'sandbox') areSet.reverse();
  [values.hasBaseUrl, values.hasOtherBaseUrl] = areSet;
  values.subgraphs = readSubgraphVariables(env, NAMES);
  values.misspelled = misspelledIn(env, process);
  // Cast: SETTINGS has a row for every other key.
  const settings = values as Settings;
  for (const [name, what] of contradictions(settings, process))
    if (!faults.has(name)) faults.set(name, what);
  if (faults.size > 0)
    throw new Error(
      `wrong settings:${[...faults].map(([name, what]) => `\n  ${name} ${what}`).join('')}`,
    );
  return settings;
}

/** This process's environment variables. */
export function readEnv(): Record<string, string | undefined> {
  return process.env;
}
