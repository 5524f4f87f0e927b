// What the command lends an extension, and what an extension adds to it.
import type { GraphAction } from '@partner-loyalty/gateway/audit.ts';
import type { UsageCounts } from '@partner-loyalty/gateway/usage/usage.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Lifecycle } from '@partner-loyalty/runtime/process/lifecycle.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { Command } from 'commander';
import { oneLine, type Shell } from './shell.ts';

/** The shell of a service with its extensions. */
export type ServiceShell = Shell &
  Required<Pick<CommandExtension, 'audited' | 'readUsage'>> & {
    extensions: readonly CommandExtension[];
    startService: StartService;
  };

/** What the module of an extension exports. */
export type CommandExtension = {
  commands(shell: ServiceShell): Command[];
  /** Those of `loyalty partners`. */
  partnerCommands?(shell: ServiceShell): Command[];
  /** Runs a change of the graph, which notes in the audit log what it does, if there is one. */
  audited?<T>(shell: Shell, work: (note: (action: GraphAction) => void) => Promise<T>): Promise<T>;
  /** Lends what is counted of the use of the API to `work`. */
  readUsage?<T>(settings: Settings, work: (usage: UsageCounts) => Promise<T>): Promise<T>;
  /** By store: reports what is wrong with it, and resolves with the number of its records. */
  verify?: Readonly<Partial<Record<StoreName, Verify>>>;
  /** What `doctor` finds, beside the rest; `stores` are those that exist. */
  examine?(settings: Settings, stores: readonly StoreName[]): Promise<Finding[]>;
  /** Ends what a partner has that was suspended. */
  suspend?(shell: Shell, partnerId: string): Promise<void>;
  /** Notes what a partner does not get back when its suspension ends. */
  resume?(shell: Shell, partnerId: string): Promise<void>;
};

export type Verify = (settings: Settings, inspection: Inspection) => Promise<number>;

/** Runs the whole service in this process, with the demo in empty stores. */
export type StartService = (
  settings: Settings,
  parts: {
    lifecycle: Lifecycle;
    log: Log;
    /** Subgraphs of other teams. */
    inProcess?: Readonly<Record<string, Transport>>;
    /** Settles when the store has the graph to start with. */
    published?: Promise<void>;
  },
) => Promise<Started>;

export type Started = {
  /** Where clients find it. */
  baseUrl: string;
  /** Undefined unless the demo was just filled in. */
  demoKeys: readonly { partnerId: string; key: string }[] | undefined;
  demoMemberId: string;
  /** For people. */
  banner: string;
};

export type Finding = { check: string; state: 'ok' | 'failed'; found: string };

/** `work` says what it has found, or throws what is wrong. */
export async function finding(
  check: string,
  remedy: string,
  work: () => string | Promise<string>,
): Promise<Finding> {
  try {
    return { check, state: 'ok', found: await work() };
  } catch (error) {
    return { check, state: 'failed', found: `${oneLine(error)}: ${remedy}` };
  }
}
