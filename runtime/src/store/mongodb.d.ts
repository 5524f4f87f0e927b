// What the package of the driver does not declare.
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';

  export class Connection extends EventEmitter {
    error: Error | null;
    writeCommand(...args: unknown[]): Promise<void>;
  }
}
