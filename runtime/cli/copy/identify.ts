import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

const SQLITE = /^sqlite:(.*)$/s;
const MONGODB = /^(mongodb(?:\+srv)?):\/\/(?:[^/@]*@)?([^/?]*)(?:\/([^?]*))?/;

/** A MongoDB URL that names no database means this one. */
const DEFAULT_DATABASE = 'kiln';
const DEFAULT_PORT = '27017';

/**
 * The name of a store that any URL of it leads to, as far as the URL itself can tell: an absolute path without links, or
 * hosts and database. It holds no user, password or option, so it can be shown.
 */
export function identify(url: string): string {
  const path = SQLITE.exec(url)?.[1];
  if (path !== undefined) return `sqlite:${realPath(resolve(path))}`;
  const [, protocol, hosts = '', database] = MONGODB.exec(url) ?? [];
  if (protocol === undefined) throw new Error('this is no URL of a store');
  const full = (host: string): string =>
    protocol === 'mongodb' && !/:[0-9]+$/.test(host) ? `${host}:${DEFAULT_PORT}` : host;
  const members = hosts.toLowerCase().split(',').map(full).sort();
  return `${protocol}://${members.join(',')}/${database || DEFAULT_DATABASE}`;
}

/** Whether two URLs lead to one store: equal names, or two names of one file. */
export function isSameStore(one: string, other: string): boolean {
  if (identify(one) === identify(other)) return true;
  const [a, b] = [one, other].map((url) => {
    const path = SQLITE.exec(url)?.[1];
    return path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  });
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
