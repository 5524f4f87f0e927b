// Stack traces that name the sources of a bundle instead of its files.
//
// Node can do this itself, but reads all source maps at the start. With packages in the bundle,
// that takes a tenth of the start's CPU time and 9 MB. Here, the map of a file is read when a
// trace first names the file.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In a file of a bundle. Node counts lines and columns from 1. */
const PLACE = /(file:\/\/\/\S+\.mjs):(\d+):(\d+)/;

/** Makes traces in this thread name the sources of files that have a source map. */
export function traceSources() {
  const maps = new Map();
  Error.prepareStackTrace = (error, frames) =>
    [headingOf(error), ...frames.map((frame) => inSource(String(frame), maps))].join('\n    at ');
}

/** The line that Node begins a trace with. */
function headingOf(error) {
  try {
    const { name, code, message } = error;
    const isOfNode = typeof code === 'string' && code.startsWith('ERR_');
    return isOfNode ? `${name} [${code}]: ${message}` : Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function inSource(frame, maps) {
  return frame.replace(PLACE, (place, url, line, column) => {
    if (!maps.has(url)) maps.set(url, mapOf(url));
    const { folder, map } = maps.get(url) ?? {};
    const found = map?.findEntry(line - 1, column - 1);
    if (found?.originalSource === undefined) return place;
    const source = resolve(folder, found.originalSource);
    return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

/** Undefined for a file that was not bundled. */
function mapOf(url) {
  try {
    const file = fileURLToPath(url);
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    return { folder: dirname(file), map };
  } catch {
    return undefined;
  }
}
