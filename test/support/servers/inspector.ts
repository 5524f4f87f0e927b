// What a process has in memory, over node's inspector: its heap, and the code that it loaded.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'undici';
import type { ServerProcess } from './process.ts';

/** The option that opens the inspector of a process on a free port. */
export const INSPECT = '--inspect=127.0.0.1:0';

export type Inspector = {
  /** The bytes that are in use after a full garbage collection. */
  heapUsed(): Promise<number>;
  /** The source files of all code that it has loaded until now, also of what is in bundles. */
  sources(): Promise<string[]>;
  /** The bytes that the text of that code takes in its heap. */
  codeBytes(): Promise<number>;
  close(): void;
};

/** Connects to a process that runs with INSPECT. */
export async function inspect(running: Pick<ServerProcess, 'wrote'>): Promise<Inspector> {
  const [, url = ''] = await running.wrote(/Debugger listening on (ws:\S+)/);
  const socket = new WebSocket(url);
  await once(socket as never, 'open');
  let id = 0;

  function call(method: string): Promise<Record<string, number>> {
    id += 1;
    const own = id;
    socket.send(JSON.stringify({ id: own, method }));
    return new Promise((resolve) => {
      const listen = ({ data }: { data: string }) => {
        const reply = JSON.parse(data);
        if (reply.id !== own) return;
        socket.removeEventListener('message', listen as never);
        resolve(reply.result);
      };
      socket.addEventListener('message', listen as never);
    });
  }

  /** The URLs of the files of code that it has loaded until now. */
  async function files(): Promise<string[]> {
    const urls: string[] = [];
    const listen = ({ data }: { data: string }) => {
      const { method, params } = JSON.parse(data);
      if (method === 'Debugger.scriptParsed') urls.push(params.url);
    };
    socket.addEventListener('message', listen as never);
    await call('Debugger.enable');
    await call('Debugger.disable');
    socket.removeEventListener('message', listen as never);
    return urls.filter((url) => url.startsWith('file:'));
  }

  return {
    async heapUsed() {
      await call('HeapProfiler.collectGarbage');
      const { usedSize = Number.NaN } = await call('Runtime.getHeapUsage');
      return usedSize;
    },
    async sources() {
      return (await files()).flatMap(sourcesOf);
    },
    async codeBytes() {
      return (await files()).reduce((sum, url) => sum + bytesOf(url), 0);
    },
    close: () => socket.close(),
  };
}

function sourcesOf(url: string): string[] {
  const map = `${fileURLToPath(url)}.map`;
  return existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')).sources : [url];
}

/** V8 keeps a text in Latin-1 if it can, and in UTF-16 otherwise. */
function bytesOf(url: string): number {
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const isLatin1 = Buffer.from(text, 'latin1').toString('latin1') === text;
  return text.length * (isLatin1 ? 1 : 2);
}
