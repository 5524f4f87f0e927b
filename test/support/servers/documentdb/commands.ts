// MongoDB's wire protocol, and its commands, each as one SQL call to the DocumentDB extension.
// The part of the protocol that drivers use: OP_MSG, and OP_QUERY for the first hello.
import { BSON } from 'bson';
import type { Pool, PoolClient } from 'pg';

export type Doc = Record<string, unknown>;
/** A message as received: its id, its opcode and all its bytes, header included. */
export type Message = { id: number; opcode: number; bytes: Buffer };

export const OP_QUERY = 2004;
export const OP_MSG = 2013;
const OP_REPLY = 1;
const HEADER_BYTES = 16;
const HAS_CHECKSUM = 1;
// Numbers keep their BSON types.
const EXACT = { promoteLongs: false, promoteValues: false, bsonRegExp: true };

export const encode = (doc: Doc): Buffer => Buffer.from(BSON.serialize(doc));
export const decode = (bytes: Uint8Array): Doc => BSON.deserialize(bytes, EXACT);

/** Splits `pending` into complete messages and the bytes that follow them. */
export function split(pending: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = [];
  let rest = pending;
  while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
    const bytes = rest.subarray(0, rest.readInt32LE(0));
    messages.push({ id: bytes.readInt32LE(4), opcode: bytes.readInt32LE(12), bytes });
    rest = rest.subarray(bytes.length);
  }
  return { messages, rest };
}

/** The command of an OP_MSG, with its document sequences as arrays, or of an OP_QUERY. */
export function command({ opcode, bytes }: Message): Doc {
  if (opcode === OP_QUERY) {
    const name = bytes.indexOf(0, HEADER_BYTES + 4);
    return decode(bytes.subarray(name + 9));
  }
  const end = bytes.length - (bytes.readUInt32LE(HEADER_BYTES) & HAS_CHECKSUM ? 4 : 0);
  let body: Doc = {};
  const sequences: Doc = {};
  for (let at = HEADER_BYTES + 4; at < end; ) {
    const size = bytes.readInt32LE(at + 1);
    const section = bytes.subarray(at + 1, at + 1 + size);
    if (bytes[at] === 0) body = decode(section);
    else {
      const name = section.indexOf(0, 4);
      sequences[section.toString('utf8', 4, name)] = documents(section.subarray(name + 1));
    }
    at += 1 + size;
  }
  return { ...body, ...sequences };
}

/** The bytes of the reply to a message. */
export function reply({ id, opcode }: Message, document: Buffer): Buffer {
  const head = opcode === OP_QUERY ? oneDocument() : Buffer.alloc(5);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + head.length + document.length, 0);
  header.writeInt32LE(id, 8);
  header.writeInt32LE(opcode === OP_QUERY ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, head, document]);
}

function documents(bytes: Buffer): Doc[] {
  const found: Doc[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at))
    found.push(decode(bytes.subarray(at, at + bytes.readInt32LE(at))));
  return found;
}

function oneDocument(): Buffer {
  const head = Buffer.alloc(20);
  head.writeInt32LE(8, 0);
  head.writeInt32LE(1, 16);
  return head;
}

export type Commands = {
  /** Executes a client's command. Resolves with the bytes of the reply, for a failure too. */
  execute(command: Doc, client: object): Promise<Buffer>;
  /** Ends the cursors and the transactions that the client began. */
  forget(client: object): void;
};

/** `connection` is set if PostgreSQL keeps the cursor there, for this cursor only. */
type Cursor = { continuation: Cell; client: object; connection: PoolClient | undefined };
/** A transaction that goes on, in a connection of its own. */
type Transaction = { connection: PoolClient; client: object };
/** Who sends a command, in which transaction of which session. */
type Sender = {
  client: object;
  transaction: Transaction | undefined;
  session: string;
  number: string;
};

type Handler = (database: string, command: Doc, sender: Sender) => Promise<Buffer> | Buffer;
type Cell = string | null;

const toSql = (doc: Doc) => `BSONHEX${encode(doc).toString('hex')}`;
const fromSql = (text: Cell) => Buffer.from((text ?? '').slice('BSONHEX'.length), 'hex');
const OK = encode({ ok: 1 });
// Fields that drivers add to a command and the extension rejects.
const ENVELOPE = [
  '$db',
  'lsid',
  '$clusterTime',
  '$readPreference',
  'txnNumber',
  'startTransaction',
  'autocommit',
  'readConcern',
  'writeConcern',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
  'maxTimeMS',
];

/** Commands over a pool of connections to the extension's database. */
export function createCommands(pool: Pool): Commands {
  const cursors = new Map<string, Cursor>();
  /** By session. */
  const transactions = new Map<string, Transaction>();
  /** The last transaction of each session that was committed, or is being committed. */
  const commits = new Map<string, { number: string; reply: Promise<Buffer> }>();
  let lastCursor = 0;

  /** A cursor that is not at its end ends with its connection. */
  function closeCursor(id: string): void {
    cursors.get(id)?.connection?.release(true);
    cursors.delete(id);
  }

  const queryRow = async (
    sql: string,
    values: unknown[],
    transaction?: Transaction,
  ): Promise<Record<string, Cell>> =>
    (await (transaction?.connection ?? pool).query<Record<string, Cell>>(sql, values)).rows[0] ??
    {};

  /**
   * Begins a transaction: a snapshot, which conflicts with whoever has written the same row since.
   * A row's lock is waited for, where MongoDB conflicts at once.
   */
  async function begin(session: string, client: object): Promise<Transaction> {
    const connection = await pool.connect();
    await connection.query(
      "begin isolation level repeatable read; set local lock_timeout = '200ms'",
    );
    const transaction = { connection, client };
    transactions.set(session, transaction);
    return transaction;
  }

  async function rollBack(session: string): Promise<void> {
    const transaction = transactions.get(session);
    if (transaction === undefined || !transactions.delete(session)) return;
    const failure = await transaction.connection.query('rollback').catch((error) => error);
    transaction.connection.release(failure instanceof Error);
  }

  async function commit({ connection }: Transaction): Promise<Buffer> {
    // PostgreSQL answers ROLLBACK to the commit of a transaction that has failed.
    const done = await connection.query('commit').catch((error: Error) => error);
    connection.release(done instanceof Error);
    if (done instanceof Error || done.command !== 'COMMIT') return refusal(...NO_TRANSACTION);
    return OK;
  }

  /** The transaction of a command, which its first command begins. */
  async function transactionOf(command: Doc, client: object, session: string) {
    if (plain(command.autocommit) !== false) return undefined;
    if (plain(command.startTransaction) === true) {
      await rollBack(session);
      return begin(session, client);
    }
    return transactions.get(session);
  }

  const firstPage =
    (name: string): Handler =>
    async (database, command, { client, transaction }) => {
      const sql = `select cursorpage::text, continuation::text, persistconnection::text as kept from documentdb_api.${name}($1, $2::documentdb_core.bson, $3)`;
      const id = `${++lastCursor}`;
      const connection = transaction?.connection ?? (await pool.connect());
      let isKept = transaction !== undefined;
      try {
        const { rows } = await connection.query(sql, [database, toSql(command), id]);
        const { cursorpage, continuation, kept } = rows[0];
        const isOwn = transaction === undefined && continuation !== null && kept === 'true';
        isKept ||= isOwn;
        if (continuation !== null)
          cursors.set(id, { continuation, client, connection: isOwn ? connection : undefined });
        return fromSql(cursorpage);
      } finally {
        if (!isKept) connection.release();
      }
    };

  const write =
    (name: string): Handler =>
    async (database, command, { transaction }) => {
      const row = await queryRow(
        `select p_result::text as reply from documentdb_api.${name}($1, $2::documentdb_core.bson)`,
        [database, toSql(command)],
        transaction,
      );
      const reply = withMongoCodes(fromSql(row.reply ?? null));
      // MongoDB fails the command, where the extension reports the write.
      if (transaction && reply.writeErrors?.some(({ code }) => code === WRITE_CONFLICT))
        throw Object.assign(new Error('another transaction has written it'), { code: '40001' });
      return encode(reply);
    };

  const hello: Handler = () =>
    encode({
      helloOk: true,
      ismaster: true,
      isWritablePrimary: true,
      msg: 'isdbgrid',
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      connectionId: 1,
      minWireVersion: 0,
      maxWireVersion: 25,
      readOnly: false,
      ok: 1,
    });

  const handlers: Record<string, Handler> = {
    hello,
    ismaster: hello,
    isMaster: hello,
    ping: () => OK,
    endSessions: () => OK,
    find: firstPage('find_cursor_first_page'),
    aggregate: firstPage('aggregate_cursor_first_page'),
    listCollections: firstPage('list_collections_cursor_first_page'),
    insert: write('insert'),
    update: write('update'),
    delete: write('delete'),
    async create(database, command) {
      const sql =
        'select documentdb_api.create_collection_view($1, $2::documentdb_core.bson)::text as reply';
      return fromSql((await queryRow(sql, [database, toSql(command)])).reply ?? null);
    },
    async getMore(database, command, { transaction }) {
      const id = String(command.getMore);
      const cursor = cursors.get(id);
      if (!cursor) return refusal(43, 'CursorNotFound', `cursor id ${id} not found`);
      const sql =
        'select cursorpage::text, continuation::text from documentdb_api.cursor_get_more($1, $2::documentdb_core.bson, $3::documentdb_core.bson)';
      const values = [database, toSql(command), cursor.continuation];
      const place = cursor.connection ?? transaction?.connection ?? pool;
      const { rows } = await place.query(sql, values);
      cursor.continuation = rows[0].continuation;
      if (cursor.continuation === null && cursors.delete(id)) cursor.connection?.release();
      return fromSql(rows[0].cursorpage);
    },
    killCursors(_database, command) {
      const ids = Array.isArray(command.cursors) ? command.cursors : [];
      for (const id of ids) closeCursor(String(id));
      return encode({ cursorsKilled: ids, ok: 1 });
    },
    commitTransaction(_database, _command, { session, number }) {
      const last = commits.get(session);
      // A driver commits again if the first reply was lost.
      if (last?.number === number) return last.reply;
      const transaction = transactions.get(session);
      if (transaction === undefined) return refusal(...NO_TRANSACTION);
      transactions.delete(session);
      const reply = commit(transaction);
      commits.set(session, { number, reply });
      return reply;
    },
    async abortTransaction(_database, _command, { session }) {
      await rollBack(session);
      return OK;
    },
    async dropDatabase(database) {
      await queryRow('select documentdb_api.drop_database($1)', [database]);
      return encode({ dropped: database, ok: 1 });
    },
  };

  async function execute(command: Doc, client: object): Promise<Buffer> {
    const [name = ''] = Object.keys(command);
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (!handler) return refusal(59, 'CommandNotFound', `no such command: '${name}'`);
    const session = sessionOf(command);
    const isWithin = plain(command.autocommit) === false;
    try {
      const transaction = await transactionOf(command, client, session);
      if (isWithin && transaction === undefined && !name.endsWith('Transaction'))
        return refusal(...NO_TRANSACTION);
      const sender = { client, transaction, session, number: String(command.txnNumber) };
      return await handler(String(command.$db), bare(command), sender);
    } catch (error) {
      const [code, codeName] = CODES[(error as { code?: string }).code ?? ''] ?? UNKNOWN;
      // PostgreSQL takes no further command in a transaction that has failed.
      if (isWithin) await rollBack(session);
      const labels = isWithin && code === WRITE_CONFLICT ? TRANSIENT : [];
      return refusal(
        code,
        codeName,
        error instanceof Error ? error.message : String(error),
        labels,
      );
    }
  }

  return {
    execute,
    forget(client) {
      for (const [id, cursor] of cursors) if (cursor.client === client) closeCursor(id);
      for (const [session, each] of transactions)
        if (each.client === client) void rollBack(session);
    },
  };
}

// SQLSTATEs and MongoDB's codes for the same errors.
const UNKNOWN: [number, string] = [1, 'InternalError'];
const CODES: Record<string, [number, string]> = {
  M000F: [48, 'NamespaceExists'],
  M00F1: [112, 'WriteConflict'],
  40001: [112, 'WriteConflict'],
  '55P03': [112, 'WriteConflict'],
  '40P01': [112, 'WriteConflict'],
  M001C: [11000, 'DuplicateKey'],
  23505: [11000, 'DuplicateKey'],
};

// The errors of a write carry the SQLSTATE as PostgreSQL packs it: five characters of six bits
// each.
function withMongoCodes(bytes: Buffer): Doc & { writeErrors?: { code: unknown }[] } {
  const reply: ReturnType<typeof withMongoCodes> = decode(bytes);
  for (const error of reply.writeErrors ?? []) {
    const packed = Number(error.code);
    const state = [0, 6, 12, 18, 24]
      .map((shift) => String.fromCharCode(((packed >> shift) & 63) + 48))
      .join('');
    error.code = CODES[state]?.[0] ?? packed;
  }
  return reply;
}

const WRITE_CONFLICT = 112;
/** Drivers run a transaction again that failed with it. */
const TRANSIENT = ['TransientTransactionError'];
const NO_TRANSACTION = [
  251,
  'NoSuchTransaction',
  'the transaction is not known',
  TRANSIENT,
] as const;

const refusal = (
  code: number,
  codeName: string,
  errmsg: string,
  errorLabels: readonly string[] = [],
) => encode({ ok: 0, errmsg, code, codeName, ...(errorLabels.length > 0 && { errorLabels }) });
/** Commands keep BSON's types, of which only this one is an object here. */
const plain = (value: unknown): unknown => (value as { valueOf(): unknown } | undefined)?.valueOf();
const sessionOf = ({ lsid }: Doc): string =>
  (lsid as { id?: { toString(encoding: string): string } } | undefined)?.id?.toString('hex') ?? '';
const bare = (command: Doc): Doc =>
  Object.fromEntries(Object.entries(command).filter(([name]) => !ENVELOPE.includes(name)));
