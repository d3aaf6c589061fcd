import { baseKey } from './base-key.js';
import { readReference, type ReferenceText } from './reference-text.js';

/** A reference to a resource of this server. */
export type LocalReference = Omit<ReferenceText, 'base'>;

/** Names of this machine for itself. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The URLs of this server's FHIR base, by which references lead to resources here. They follow from the configuration, never from the
 * `Host` of a request. docs/decisions/0013-own-bases.md
 */
export class OwnBases {
  /** @param keys the URLs, as `baseKey` has them; none: they are not known yet, or never will be */
  constructor(public keys: readonly string[] = []) {}

  /** Those of a server without a configured URL, which clients reach by any name of this machine. @param url by one of them */
  static onThisMachine(url: string): OwnBases {
    const { protocol, port, pathname } = new URL(url);
    const at = `${port === '' ? '' : `:${port}`}${pathname}`;
    return new OwnBases(LOOPBACK.map((host) => baseKey(`${protocol}//${host}${at}`)));
  }

  /** Takes those that follow from the place where a server listens, unless the configuration has said others. */
  learn(url: string): void {
    if (this.keys.length === 0) this.keys = OwnBases.onThisMachine(url).keys;
  }

  /** Reads a reference as `readReference` does. One below a base of this server is as good as a relative one, and so has no base. */
  read(text: string): ReferenceText | undefined {
    const named = readReference(text);
    if (named?.base === undefined || !this.keys.includes(named.base)) return named;
    const { base: _own, ...place } = named;
    return place;
  }

  /** Reads a reference that leads to a resource of this server; undefined for any other, and for what is no text. */
  readLocal(text: unknown): LocalReference | undefined {
    const named = typeof text === 'string' ? this.read(text) : undefined;
    return named?.base === undefined ? named : undefined;
  }

  /** Returns what follows a base of this server and its slash in an absolute URL; undefined: the URL lies elsewhere, or is relative. */
  below(url: string): string | undefined {
    const key = baseKey(url);
    const own = this.keys.find((each) => key.startsWith(`${each}/`));
    return own === undefined ? undefined : key.slice(own.length + 1);
  }
}
