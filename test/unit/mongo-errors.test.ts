import { MongoBulkWriteError, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';

import { isTransient, translateMongoError } from '../../runtime/store/mongo/mongo-errors.js';

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

test('other errors of the server pass', () => {
  const error = new MongoServerError({ message: 'something else', code: 2 });
  expect(translateMongoError(error)).toBe(error);
});
