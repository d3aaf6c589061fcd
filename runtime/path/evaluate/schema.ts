import type { ElementForm, ElementMember, TypeIndex } from '../expression/type-index.js';
import { isJson, PathItem, type Json } from './item.js';

/** Choices of more types are found by the properties of the object, and not the other way about. */
const FEW_FORMS = 3;

/** Reads the elements of values by the definitions of their types. */
export interface Schema {
  readonly types: TypeIndex;
  /** Adds the values of an element to a list. */
  children(item: PathItem, element: string, out: PathItem[]): void;
  /** One value of an element, by its position; absent: it is taken from all of them. */
  childAt?(item: PathItem, element: string, index: number): PathItem | undefined;
  /** Adds the values of all elements to a list. */
  allChildren(item: PathItem, out: PathItem[]): void;
}

/** Makes a schema of types. */
export function createSchema(types: TypeIndex): Schema {
  return {
    types,
    children(item, element, out) {
      const holder = holderOf(item);
      if (holder === undefined) return;
      const type = holder === item.beside ? 'Element' : item.type;
      const forms = types.forms(type, element);
      if (forms.length <= FEW_FORMS) for (const form of forms) read(holder, form, out);
      else {
        const members = types.members(type);
        for (const key in holder) {
          const member = memberAt(members, key);
          if (member?.element.name === element) readAt(holder, key, member, out);
        }
      }
    },
    allChildren(item, out) {
      const holder = holderOf(item);
      if (holder === undefined) return;
      const members = types.members(holder === item.beside ? 'Element' : item.type);
      for (const key in holder) {
        const member = memberAt(members, key);
        if (member !== undefined) readAt(holder, key, member, out);
      }
    },
  };
}

/** The object that has the children of a value: of a primitive the one beside it. */
function holderOf({ value, beside }: PathItem): Json | undefined {
  return isJson(value) ? value : beside;
}

/** The member that a key, or one with `_` before it, belongs to. */
function memberAt(members: ReturnType<TypeIndex['members']>, key: string): ElementMember | undefined {
  return members.get(key) ?? (key.startsWith('_') ? members.get(key.slice(1)) : undefined);
}

/** Reads the property that a key belongs to, once where both the value and what is beside it are there. */
function readAt(holder: Json, key: string, member: ElementMember, out: PathItem[]): void {
  if (key === member.key || holder[member.key] === undefined) read(holder, member, out);
}

/** Adds the values of a property, each primitive with what is beside it. */
function read(holder: Json, { key, beside: other, type }: ElementForm, out: PathItem[]): void {
  const value = holder[key];
  const beside = holder[other];
  if (Array.isArray(value) || Array.isArray(beside)) {
    const values = Array.isArray(value) ? (value as unknown[]) : [];
    const others = Array.isArray(beside) ? (beside as unknown[]) : [];
    const count = Math.max(values.length, others.length);
    for (let i = 0; i < count; i++) add(values[i], others[i], type, out);
  } else if (value !== undefined || beside !== undefined) add(value, beside, type, out);
}

function add(value: unknown, beside: unknown, type: string, out: PathItem[]): void {
  const others = isJson(beside) ? beside : undefined;
  if (value === undefined || value === null) {
    if (others !== undefined) out.push(new PathItem(undefined, type, others));
  } else if (isJson(value)) {
    const { resourceType } = value;
    out.push(new PathItem(value, typeof resourceType === 'string' ? resourceType : type));
  } else out.push(new PathItem(value, type, others));
}
