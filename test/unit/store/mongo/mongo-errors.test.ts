import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

import { MongoBulkWriteError, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { expect, test } from 'vitest';

import {
  isConnectionLost,
  isTransient,
  translateMongoError,
  translateWriteError,
} from '../../../../runtime/store/mongo/mongo-errors.js';

const message = '-31800: transaction is too large and will not fit in the storage engine cache';
const errors = [
  new MongoBulkWriteError({ message, code: -31800, writeErrors: [] }, {} as never),
  new MongoServerError({ message, code: -31800 }),
  new MongoServerError({ message: 'too large', code: 388, errorLabels: ['TransientTransactionError'] }),
  new MongoBulkWriteError({ message: message.slice(8), code: 1, writeErrors: [] }, {} as never),
];

test.each(errors)('a transaction that does not fit into the memory of the server is 413: %s', (error) => {
  const told = translateMongoError(error);
  expect(told).toMatchObject({ code: 'transaction-too-large', status: 413 });
  // The next try would take as much.
  expect(isTransient(error)).toBe(false);
  expect((told as Error).message).toMatch(/one transaction of MongoDB.*smaller Bundles/);
});

test.each(errors)('where that is one resource, nobody is told to send smaller Bundles: %s', (error) => {
  expect(translateWriteError(translateMongoError(error), 2)).toMatchObject({ code: 'transaction-too-large' });
  const alone = translateWriteError(error, 1);
  expect(alone).toMatchObject({ code: 'resource-too-large', status: 413 });
  expect(String(alone)).not.toContain('Bundle');
});

test('a write that the server ended in time is one that was not done', () => {
  const error = new MongoServerError({ message: 'operation exceeded time limit', code: 50 });
  expect(translateWriteError(error, 1)).toMatchObject({ code: 'store-busy', status: 503 });
  expect(String(translateWriteError(error, 1))).toContain('wrote nothing');
});

test('of a write whose time ran out while others were to confirm it nobody knows', () => {
  const writeConcernError = { code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'operation exceeded time limit' };
  const told = translateWriteError(new MongoWriteConcernError({ ok: 1, writeConcernError } as never), 1);
  expect(told).toMatchObject({ status: 503 });
  expect(String(told)).not.toContain('wrote nothing');
  expect(told).toEqual(translateMongoError(new MongoWriteConcernError({ ok: 1, writeConcernError } as never)));
});

test('other errors of the server pass', () => {
  const error = new MongoServerError({ message: 'something else', code: 2 });
  expect(translateMongoError(error)).toBe(error);
});

test('a connection that its other end has closed is lost, whatever error the socket has for that', async () => {
  // As Node has it where a command is written to a server that was killed, before the socket is closed on this side, too.
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  try {
    await once(socket, 'end');
    const error = await new Promise<unknown>((resolve) => {
      socket.on('error', resolve);
      socket.write('x');
    });
    expect(error).toMatchObject({ code: 'EPIPE' });
    expect(isConnectionLost(error)).toBe(true);
    expect(translateMongoError(error)).toMatchObject({ code: 'store-unavailable', status: 503 });
    const destroyed = await new Promise<unknown>((resolve) => socket.destroy().write('x', resolve));
    expect(translateMongoError(destroyed)).toMatchObject({ code: 'store-unavailable' });
  } finally {
    socket.destroy();
    server.close();
  }
});
