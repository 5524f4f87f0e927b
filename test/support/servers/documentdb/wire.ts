// The part of MongoDB's wire protocol that drivers use: OP_MSG, and OP_QUERY for the first hello.
import { BSON } from 'bson';

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
