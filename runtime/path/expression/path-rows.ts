import type { CodeTable, PathRow } from '../../contract/index.js';
import { compileBranch, type CompiledPath } from './compile.js';
import type { TypeIndex } from './type-index.js';

/**
 * The branches of a parameter that start from this type, each once. One that names no type belongs to every type
 * that has what it names.
 *
 * @param isOnly whether it is the only type that the parameter is for
 */
export function branchesOf(all: readonly string[], type: string, isOnly: boolean, types: TypeIndex): string[] {
  const mine = all.filter((text) => {
    const head = /^\(*\s*([A-Za-z]+)/.exec(text)?.[1] ?? '';
    if (types.isType(head)) return head === type;
    return isOnly || compiles(text, type, types);
  });
  return [...new Set(mine)];
}

function compiles(text: string, type: string, types: TypeIndex): boolean {
  try {
    compileBranch(text, type, types);
    return true;
  } catch {
    return false;
  }
}

/** The row of a compiled branch. */
export function toPathRow(text: string, path: CompiledPath, codes: readonly CodeTable[]): PathRow {
  const system = systemOf(path, codes);
  return { text, steps: path.steps, types: path.types, ...(system === undefined ? {} : { system }) };
}

/** A `code` names no system; its required binding does where it draws on one alone. */
function systemOf({ element, types }: CompiledPath, codes: readonly CodeTable[]): string | undefined {
  const binding = element?.binding;
  if (binding?.strength !== 'required' || types.length !== 1 || types[0] !== 'code') return undefined;
  const systems = Object.keys(codes.find((table) => table.url === binding.valueSet)?.codes ?? {});
  return systems.length === 1 ? systems[0] : undefined;
}
