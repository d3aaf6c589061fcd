import { formsOf, type TypeIndex } from '../expression/type-index.js';
import { isJson, Item, type Json } from './item.js';

/** A property of an object in JSON. */
interface Member {
  /** Name in JSON: `valueQuantity`. */
  readonly key: string;
  /** Name of what is beside it: `_valueQuantity`. */
  readonly other: string;
  readonly type: string;
}

/** The elements of a type. */
interface Members {
  /** Forms of each element, by its name. */
  readonly byElement: ReadonlyMap<string, readonly Member[]>;
  /** Properties by their names in JSON, those beside them included. */
  readonly byKey: ReadonlyMap<string, Member>;
  /** Element of each of those. */
  readonly elementOf: ReadonlyMap<string, string>;
}

/** Choices of more types are found by the properties of the object, and not the other way about. */
const FEW_FORMS = 3;

/** Reads the elements of values by the definitions of their types. */
export interface Schema {
  readonly types: TypeIndex;
  /** Adds the values of an element to a list. */
  children(item: Item, element: string, out: Item[]): void;
  /** One value of an element, by its position; absent: it is taken from all of them. */
  childAt?(item: Item, element: string, index: number): Item | undefined;
  /** Adds the values of all elements to a list. */
  allChildren(item: Item, out: Item[]): void;
}

/** Makes a schema of types; what it knows of a type is put together when the type first comes. */
export function createSchema(types: TypeIndex): Schema {
  const known = new Map<string, Members>();
  const membersOf = (type: string): Members => {
    let members = known.get(type);
    if (members === undefined) known.set(type, (members = collect(type, types)));
    return members;
  };
  return {
    types,
    children(item, element, out) {
      const holder = isJson(item.value) ? item.value : item.beside;
      if (holder === undefined) return;
      const { byElement, byKey, elementOf } = membersOf(holder === item.beside ? 'Element' : item.type);
      const forms = byElement.get(element);
      if (forms === undefined) return;
      if (forms.length <= FEW_FORMS) for (const form of forms) read(holder, form, out);
      else {
        for (const key in holder) {
          if (elementOf.get(key) === element) readAt(holder, key, byKey.get(key)!, out);
        }
      }
    },
    allChildren(item, out) {
      const holder = isJson(item.value) ? item.value : item.beside;
      if (holder === undefined) return;
      const { byKey } = membersOf(holder === item.beside ? 'Element' : item.type);
      for (const key in holder) {
        const member = byKey.get(key);
        if (member !== undefined) readAt(holder, key, member, out);
      }
    },
  };
}

function collect(type: string, types: TypeIndex): Members {
  const byElement = new Map<string, readonly Member[]>();
  const byKey = new Map<string, Member>();
  const elementOf = new Map<string, string>();
  for (const element of types.elements(type)) {
    const { name } = element;
    const forms = formsOf(element).map(([key, form]): Member => ({ key, other: `_${key}`, type: form }));
    byElement.set(name, forms);
    for (const form of forms) {
      for (const key of [form.key, form.other]) {
        byKey.set(key, form);
        elementOf.set(key, name);
      }
    }
  }
  return { byElement, byKey, elementOf };
}

/** Reads the property that a key belongs to, once where both the value and what is beside it are there. */
function readAt(holder: Json, key: string, member: Member, out: Item[]): void {
  if (key === member.key || holder[member.key] === undefined) read(holder, member, out);
}

/** Adds the values of a property, each primitive with what is beside it. */
function read(holder: Json, { key, other, type }: Member, out: Item[]): void {
  const value = holder[key];
  const beside = holder[other];
  if (Array.isArray(value) || Array.isArray(beside)) {
    const values = Array.isArray(value) ? (value as unknown[]) : [];
    const others = Array.isArray(beside) ? (beside as unknown[]) : [];
    const count = Math.max(values.length, others.length);
    for (let i = 0; i < count; i++) add(values[i], others[i], type, out);
  } else if (value !== undefined || beside !== undefined) add(value, beside, type, out);
}

function add(value: unknown, beside: unknown, type: string, out: Item[]): void {
  const others = isJson(beside) ? beside : undefined;
  if (value === undefined || value === null) {
    if (others !== undefined) out.push(new Item(undefined, type, others));
  } else if (isJson(value)) {
    const { resourceType } = value;
    out.push(new Item(value, typeof resourceType === 'string' ? resourceType : type));
  } else out.push(new Item(value, type, others));
}
