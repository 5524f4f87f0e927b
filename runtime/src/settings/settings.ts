// Reads the settings of a process, and is the only reader of process.env.
import { type ProcessName, SETTINGS, type SettingRow, type Settings } from './table.ts';

/** The settings of a process. An empty variable counts as unset. Throws one Error that names every fault, a line each, and repeats no secret. */
export function readSettings(
  env: Record<string, string | undefined>,
  process: ProcessName,
): Settings {
  const faults = new Map<string, string>();
  const values: Record<string, unknown> = {};
  // Cast: a table of rows of different types, each of which sets the value of its own key.
  for (const [key, row] of Object.entries(SETTINGS as Record<string, SettingRow>)) {
    // Cast: `unset` reads only the rows above its own, which are filled in by now.
    values[key] = row.unset(values as Settings, process);
    const text = row.usedBy.includes(process) ? env[row.name]?.trim() : undefined;
    if (text === undefined || text === '') continue;
    try {
      values[key] = row.parse(text);
    } catch (error) {
      const what = error instanceof Error ? error.message : 'is wrong';
      faults.set(
        row.name,
        row.secret ? what : `${what}, and is ${JSON.stringify(text.slice(0, 100))}`,
      );
    }
  }
  // Cast: SETTINGS has a row for every key.
  const settings = values as Settings;
  for (const [name, what] of contradictions(settings, process))
    if (!faults.has(name)) faults.set(name, what);
  if (faults.size > 0)
    throw new Error(
      `wrong settings:${[...faults].map(([name, what]) => `\n  ${name} ${what}`).join('')}`,
    );
  return settings;
}

/** This process's environment variables: the only place that reads them. */
export function readEnv(): Record<string, string | undefined> {
  return process.env;
}

/** Variables whose values do not fit together, each with what is wrong. */
function contradictions(settings: Settings, process: ProcessName): [string, string][] {
  const {
    port,
    adminPort,
    membersUrl,
    standingsUrl,
    subgraphSecret,
    idTokenIssuer,
    idTokenAudience,
    idTokenJwksUrl,
  } = settings;
  const faults: [string, string][] = [];
  const require = (when: string, values: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(values))
      if (value === undefined) faults.push([name, `has to be set ${when}`]);
  };
  if (port !== 0 && port === adminPort) faults.push(['ADMIN_PORT', 'has to differ from PORT']);
  if (process === 'gateway')
    require('where the gateway runs by itself', {
      MEMBERS_URL: membersUrl,
      STANDINGS_URL: standingsUrl,
    });
  if (process !== 'all' || membersUrl !== undefined || standingsUrl !== undefined) {
    require('once a subgraph runs by itself', { SUBGRAPH_SECRET: subgraphSecret });
  }
  if ([idTokenIssuer, idTokenAudience, idTokenJwksUrl].some((value) => value !== undefined)) {
    require('with the other ID_TOKEN variables of a provider', {
      ID_TOKEN_ISSUER: idTokenIssuer,
      ID_TOKEN_AUDIENCE: idTokenAudience,
    });
    if (
      idTokenJwksUrl === undefined &&
      idTokenIssuer !== undefined &&
      !/^https?:/.test(idTokenIssuer)
    ) {
      faults.push([
        'ID_TOKEN_JWKS_URL',
        'has to be set where the issuer is no address to discover it at',
      ]);
    }
  }
  return faults;
}
