import { MongoBulkWriteError, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';

import { translateMongoError } from '../../runtime/store/mongo/mongo-errors.js';

const message = '-31800: transaction is too large and will not fit in the storage engine cache';
const errors = [
  new MongoBulkWriteError({ message, code: -31800, writeErrors: [] }, {} as never),
  new MongoServerError({ message, code: -31800 }),
  new MongoServerError({ message: 'too large', codeName: 'TransactionTooLargeForCache' }),
];

test.each(errors)('a transaction that does not fit into the memory of the server is 413: %s', (error) => {
  const told = translateMongoError(error);
  expect(told).toMatchObject({ code: 'resource-too-large', status: 413 });
  expect((told as Error).message).toMatch(/one transaction of MongoDB.*smaller Bundles/);
});

test('other errors of the server pass', () => {
  const error = new MongoServerError({ message: 'something else', code: 2 });
  expect(translateMongoError(error)).toBe(error);
});
