import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { END, printPointer, readIndex, type JsonPointer } from './json-pointer.js';
import { PatchFault } from '../patch-fault.js';

type Holder = JsonObject | JsonValue[];

/**
 * A JSON document that is being changed. What was given stays as it is: an object or an array of it is copied when it
 * first changes, and the copy from then on changed in place, so that many changes of one long array cost no more than
 * one.
 */
export class JsonDraft {
  /** Made here and in the document once only, and so free to be changed. */
  private readonly owned = new WeakSet<object>();

  /** Lists whose last item was taken out. */
  private readonly emptied = new Set<JsonValue[]>();

  constructor(private root: JsonValue) {}

  /** The document as it has become. Changes that follow may show in it. */
  get document(): JsonValue {
    return this.root;
  }

  /** The value at a place. @throws PatchFault where there is none */
  get(path: JsonPointer): JsonValue {
    let value = this.root;
    for (let depth = 0; depth < path.length; depth++) value = child(value, path, depth);
    return value;
  }

  /** Whether there is a value at a place. */
  has(path: JsonPointer): boolean {
    let value: JsonValue | undefined = this.root;
    for (const token of path) {
      if (Array.isArray(value)) value = value[readIndex(token) ?? -1];
      else value = isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    }
    return value !== undefined;
  }

  /** Drops lists that lost their last item and got no other: FHIR knows no empty ones. */
  dropEmptied(): void {
    if (this.emptied.size > 0) this.drop(this.root);
  }

  private drop(value: JsonValue): void {
    if (!isHolder(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (Array.isArray(inner) && inner.length === 0 && this.emptied.has(inner) && !Array.isArray(value))
        delete value[name];
      else if (inner !== undefined) this.drop(inner);
    }
  }

  /** Adds a value as a member, or as an item before the one that has the index. */
  add(path: JsonPointer, value: JsonValue): void {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const holder = this.holder(path);
    const token = path.at(-1)!;
    if (!Array.isArray(holder)) {
      checkName(token);
      holder[token] = value;
    } else if (token === END) {
      holder.push(value);
    } else {
      const index = readIndex(token);
      if (index === undefined || index > holder.length) throw noPlace(holder, path);
      holder.splice(index, 0, value);
    }
  }

  /** Puts a value in the place of one that is there. */
  replace(path: JsonPointer, value: JsonValue): void {
    this.get(path);
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const holder = this.holder(path);
    const token = path.at(-1)!;
    if (Array.isArray(holder)) holder[Number(token)] = value;
    else holder[token] = value;
  }

  /** Takes a value out and gives it. */
  remove(path: JsonPointer): JsonValue {
    const value = this.get(path);
    const token = path.at(-1);
    if (token === undefined) throw new PatchFault('patch-target', 'the whole document cannot be removed');
    const holder = this.holder(path);
    if (Array.isArray(holder)) {
      holder.splice(Number(token), 1);
      if (holder.length === 0) this.emptied.add(holder);
    } else delete holder[token];
    return value;
  }

  /** The object or array that has the place, made free to be changed, with all that it is in. */
  private holder(path: JsonPointer): Holder {
    const last = path.length - 1;
    // Before anything is copied: a place that does not exist changes nothing.
    let value = this.root;
    for (let depth = 0; depth < last; depth++) value = child(value, path, depth);
    if (!isHolder(value))
      throw new PatchFault('patch-target', `${printPointer(path.slice(0, -1))} is no object or array`);
    let holder = (this.root = this.own(this.root as Holder));
    for (let depth = 0; depth < last; depth++) {
      const token = path[depth]!;
      const inner: Holder = Array.isArray(holder)
        ? (holder[Number(token)] = this.own(holder[Number(token)] as Holder))
        : (holder[token] = this.own(holder[token] as Holder));
      holder = inner;
    }
    return holder;
  }

  private own(value: Holder): Holder {
    if (this.owned.has(value)) return value;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    this.owned.add(copy);
    return copy;
  }
}

function isHolder(value: JsonValue): value is Holder {
  return Array.isArray(value) || isObject(value);
}

/** What the token at this depth names in a value. */
function child(value: JsonValue, path: JsonPointer, depth: number): JsonValue {
  const token = path[depth]!;
  if (Array.isArray(value)) {
    const index = readIndex(token);
    if (index === undefined || index >= value.length) throw noPlace(value, path.slice(0, depth + 1));
    return value[index]!;
  }
  if (isObject(value) && Object.hasOwn(value, token)) return value[token]!;
  throw new PatchFault('patch-target', `there is no ${printPointer(path.slice(0, depth + 1))}`);
}

function noPlace(array: readonly JsonValue[], path: JsonPointer): PatchFault {
  const place = printPointer(path.slice(0, -1));
  const token = path.at(-1)!;
  if (readIndex(token) === undefined && token !== END) {
    return new PatchFault(
      'patch-target',
      `${place} is an array, and ${JSON.stringify(token.slice(0, 40))} no index of one`,
    );
  }
  const text = `${place} has ${array.length} ${array.length === 1 ? 'item' : 'items'}`;
  const rule =
    token === END ? '"-" is the place behind them, where there is none' : `there is no [${token.slice(0, 40)}]`;
  return new PatchFault('patch-target', `${text}, and ${rule}`);
}

/** Assigning that name would change what the object inherits from. */
function checkName(name: string): void {
  if (name === '__proto__') throw new PatchFault('json-forbidden-key', `the property "${name}" is not allowed`);
}
