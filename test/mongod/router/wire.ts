import { BSON, type Document } from 'mongodb';
import { connect, type Socket } from 'node:net';

const HEADER = 16;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;

/** Numbers keep the type that they have in BSON, and bytes theirs. */
const EXACT = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true };

/** A message of MongoDB's wire protocol. https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
export interface Message {
  readonly id: number;
  readonly command: Document;
  /** In the old form, in which drivers greet a server. */
  readonly isQuery: boolean;
  /** Whether the sender waits for an answer. */
  readonly isAnswered: boolean;
}

/** Calls back with each message that comes from a socket. */
export function readMessages(socket: Socket, onMessage: (bytes: Buffer) => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    for (;;) {
      if (size < 4) return;
      if (chunks[0]!.length < 4) chunks = [Buffer.concat(chunks)];
      const length = chunks[0]!.readInt32LE(0);
      if (size < length) return;
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      onMessage(all.subarray(0, length));
      size -= length;
      chunks = size === 0 ? [] : [all.subarray(length)];
    }
  });
}

/** Reads a message with its sections of documents put into the command. */
export function parseMessage(bytes: Buffer): Message {
  const id = bytes.readInt32LE(4);
  if (bytes.readInt32LE(12) === OP_QUERY) {
    const at = bytes.indexOf(0, HEADER + 4) + 9;
    return { id, command: documentAt(bytes, at), isQuery: true, isAnswered: true };
  }
  const flags = bytes.readUInt32LE(HEADER);
  const end = bytes.length - ((flags & CHECKSUM_PRESENT) === 0 ? 0 : 4);
  let command: Document = {};
  const lists: Document = {};
  for (let at = HEADER + 4; at < end;) {
    const kind = bytes[at++];
    const size = bytes.readInt32LE(at);
    if (kind === 0) command = documentAt(bytes, at);
    else {
      const name = bytes.indexOf(0, at + 4);
      const list: Document[] = [];
      for (let from = name + 1; from < at + size; from += bytes.readInt32LE(from)) list.push(documentAt(bytes, from));
      lists[bytes.toString('utf8', at + 4, name)] = list;
    }
    at += size;
  }
  return { id, command: { ...command, ...lists }, isQuery: false, isAnswered: (flags & MORE_TO_COME) === 0 };
}

function documentAt(bytes: Buffer, at: number): Document {
  return BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at)), EXACT);
}

/** Writes an answer in the form of its question. */
export function printAnswer({ id, isQuery }: Message, document: Document): Buffer {
  const head = Buffer.alloc(HEADER + (isQuery ? 20 : 5));
  if (isQuery) head.writeInt32LE(1, HEADER + 16);
  return finish(head, isQuery ? OP_REPLY : OP_MSG, id, document);
}

function finish(head: Buffer, code: number, answerTo: number, document: Document): Buffer {
  const body = BSON.serialize(document, { ignoreUndefined: true });
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(answerTo, 8);
  head.writeInt32LE(code, 12);
  return Buffer.concat([head, body]);
}

/** A connection to a server, on which one command goes at a time. */
export interface ServerConnection {
  /** @throws Error where the connection is lost */
  send(command: Document): Promise<Document>;
  close(): void;
}

/** Connects to a server with its first command. */
export function openConnection(host: string): ServerConnection {
  let socket: Socket | undefined;
  let waiting: { resolve: (answer: Document) => void; reject: (error: Error) => void } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function open(): Socket {
    const [name, port] = host.split(':');
    const made = connect(Number(port), name);
    made.setNoDelay(true);
    const lost = (): void => {
      if (socket === made) socket = undefined;
      waiting?.reject(new Error(`the connection to ${host} is lost`));
      waiting = undefined;
    };
    made.on('error', lost).on('close', lost);
    readMessages(made, (bytes) => {
      const { resolve } = waiting ?? {};
      waiting = undefined;
      resolve?.(parseMessage(bytes).command);
    });
    return made;
  }

  const one = (command: Document): Promise<Document> =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket ??= open();
      socket.write(finish(Buffer.alloc(HEADER + 5), OP_MSG, 0, command));
    });

  return {
    send(command) {
      const answer = last.then(() => one(command));
      last = answer.catch(() => {});
      return answer;
    },
    close: () => socket?.destroy(),
  };
}
