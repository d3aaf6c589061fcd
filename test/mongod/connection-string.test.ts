import { expect, it } from 'vitest';

import { withDatabase } from './connection-string.js';

it.each([
  ['mongodb://h', 'mongodb://h/d'],
  ['mongodb://h/', 'mongodb://h/d'],
  ['mongodb://a:1,b:2/x?replicaSet=r', 'mongodb://a:1,b:2/d?replicaSet=r'],
  ['mongodb+srv://u:p@h/?tls=true', 'mongodb+srv://u:p@h/d?tls=true&authSource=admin'],
  ['mongodb://u:p@h/users', 'mongodb://u:p@h/d?authSource=users'],
  ['mongodb://u:p@h/x?authSource=y', 'mongodb://u:p@h/d?authSource=y'],
])('%s with another database, the same users', (url, expected) => {
  expect(withDatabase(url, 'd')).toBe(expected);
});

it('refuses what is no connection string, without repeating what may hold a password', () => {
  expect(() => withDatabase('http://u:secret@h/', 'd')).toThrow(/^(?!.*secret).*mongodb:\/\/HOST/);
});
