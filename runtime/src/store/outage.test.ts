// Which errors are an outage of a store.
import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { isOutage, outageReason } from './outage.ts';

test.each([
  ['a lost connection to MongoDB', new MongoNetworkError('lost')],
  ['no MongoDB server to select', new MongoServerSelectionError('none', {} as never)],
  ['a MongoDB server that shuts down', new MongoServerError({ message: 'bye', code: 91 })],
  [
    'a bulk write that lost it',
    new MongoBulkWriteError(new MongoNetworkError('lost'), {} as never),
  ],
  ['a refused connection', Object.assign(new Error('no'), { code: 'ECONNREFUSED' })],
  ['a full disk', Object.assign(new Error('no'), { code: 'ENOSPC' })],
  ['an LMDB map that is full', Object.assign(new Error('no'), { code: -30792 })],
  ['a failed write to a disk', Object.assign(new Error('no'), { code: 'EIO' })],
  ['a timeout', new DOMException('late', 'TimeoutError')],
  ['an error caused by one of these', new Error('outer', { cause: new MongoNetworkError('lost') })],
])('%s is an outage', (_, error) => {
  expect(isOutage(error)).toBe(true);
});

test.each([
  ['a duplicate key', new MongoServerError({ message: 'dup', code: 11000 })],
  [
    'a duplicate key in a bulk write',
    new MongoBulkWriteError({ message: 'dup', code: 11000 }, {} as never),
  ],
  ['a bug', new TypeError('undefined is not a function')],
  ['a missing file', Object.assign(new Error('no'), { code: 'ENOENT' })],
  ['a value that is not an error', 'ECONNREFUSED'],
  ['nothing', undefined],
])('%s is not an outage', (_, error) => {
  expect(isOutage(error)).toBe(false);
});

test('an error that is its own cause does not loop forever', () => {
  const error = new Error('loop');
  error.cause = error;
  expect(isOutage(error)).toBe(false);
});

const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });

test.each([
  ['MongoNetworkError', new MongoNetworkError('lost')],
  ['MongoNetworkError', new MongoBulkWriteError(new MongoNetworkError('lost'), {} as never)],
  [
    'ECONNREFUSED',
    new MongoBulkWriteError(new MongoNetworkError('lost', { cause: refused }), {} as never),
  ],
  [
    'ShutdownInProgress',
    new MongoServerError({ message: 'bye', code: 91, codeName: 'ShutdownInProgress' }),
  ],
  ['ENOSPC', Object.assign(new Error('no'), { code: 'ENOSPC' })],
  ['-30792', Object.assign(new Error('no'), { code: -30792 })],
])('%s is the reason of an outage, however it was wrapped', (reason, error) => {
  expect(outageReason(error)).toBe(reason);
});
