// Runs each test file in Node's own context, so that a worker loads a package once for all files.
import vm from 'node:vm';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Stands for Node's own context: jest asks for one, and vm takes none that it did not make. */
const OWN = vm.createContext();
const { compileFunction } = vm;
vm.compileFunction = (code, names, options) =>
  compileFunction(
    code,
    names,
    options.parsingContext === OWN ? { ...options, parsingContext: undefined } : options,
  );

/** What of the process a file may change, and the next one finds as it was. */
const { console, process } = globalThis;
const { exit } = process;

export default class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #env = { ...process.env };

  constructor({ projectConfig }) {
    Object.assign(globalThis, projectConfig.globals);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
  }

  getVmContext() {
    return OWN;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}
