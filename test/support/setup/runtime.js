// Jest's modules of a test file, but packages are those that Node has loaded once for the worker.
import { createRequire } from 'node:module';
import JestRuntime from 'jest-runtime';

/** The name of something in node_modules that is not ours. */
const PACKAGE = /^(?!node:|@partner-loyalty\/|@jest\/globals$)[@\w]/;

export default class Runtime extends JestRuntime {
  requireModule(from, name, options, isRequireActual) {
    return PACKAGE.test(name ?? '') && options === undefined && !from.includes('/node_modules/')
      ? createRequire(from)(name)
      : super.requireModule(from, name, options, isRequireActual);
  }
}
