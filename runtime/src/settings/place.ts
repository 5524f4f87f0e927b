// Where the stores and the counters are, in words that have no credentials.
import type { Settings } from './table.ts';

/** For log lines: the engine with its database or folder, and Redis or `none`. */
export function placesOf({
  mongodbUrl,
  dataDir,
  redisUrl,
}: Pick<Settings, 'mongodbUrl' | 'dataDir' | 'redisUrl'>) {
  const redis = redisUrl === undefined ? 'none' : placeIn(redisUrl);
  if (mongodbUrl === undefined) return { engine: 'lmdb', folder: dataDir, redis };
  const place = placeIn(mongodbUrl);
  const database = /\/./.test(place) ? place : `${place.replace('/', '')}/loyalty`;
  return { engine: 'mongodb', database, redis };
}

/** The hosts and the path of a connection URL. */
function placeIn(url: string): string {
  // After the last @, however a password is written.
  const [place = ''] = url.replace(/^.*@|^[\w+]+:\/\//s, '').split('?');
  return place;
}
