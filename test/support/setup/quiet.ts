// A library's warning about Node 20, which the service logs for developers only.
const { warn } = console;

console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('oidc-provider WARNING: Unsupported runtime')) warn(...args);
};
