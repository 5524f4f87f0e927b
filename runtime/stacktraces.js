// Stack traces that name the sources of a bundle instead of its files.
//
// Node can do this itself, but reads the source maps of all files at the start. With packages in
// the bundle, that takes a tenth of the start's CPU time and 9 MB. Here, the first trace reads
// them.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';

/** In a file of a bundle. Node counts lines and columns from 1. */
const PLACE = /file:\/\/(\/\S+\.mjs):(\d+):(\d+)/;

/** From now on, traces in this thread name the sources of files that have a source map. */
export function traceSources() {
  const maps = new Map();
  Error.prepareStackTrace = (error, frames) =>
    [headingOf(error), ...frames.map((frame) => inSource(String(frame), maps))].join('\n    at ');
}

/** As Node begins a trace. */
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
  return frame.replace(PLACE, (place, file, line, column) => {
    if (!maps.has(file)) maps.set(file, mapOf(decodeURI(file)));
    const found = maps.get(file)?.findEntry(line - 1, column - 1);
    if (found?.originalSource === undefined) return place;
    const source = resolve(dirname(file), found.originalSource);
    return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

/** Undefined for a file that was not bundled. */
function mapOf(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
