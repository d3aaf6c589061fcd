/** What a request costs, and how many shards it asks. */
interface Kind {
  readonly row: string;
  readonly commands: number;
  readonly time: number;
  readonly shards: 'one' | 'few' | 'all';
  readonly split: number;
}

interface Options {
  readonly cores: number;
  readonly load: number;
}

type Name = 'read' | 'create' | 'update' | 'transaction' | 'identifier' | 'page' | 'include' | 'chain' | 'history';

export const KINDS: Readonly<Record<Name, Kind>>;
export const MIXES: Readonly<Record<string, Readonly<Record<string, number>>>>;
export const SHARDS: readonly number[];
export function asked(kind: Kind, count: number): number;
export function messages(kind: Kind, count: number): number;
export function work(kind: Kind, count: number): number;
export function erlang(c: number, load: number): number;
export function predict(
  mix: Readonly<Record<string, number>>,
  count: number,
  options: Options,
): { readonly most: number; readonly latency: number; readonly messages: number };
export function table(options?: Options): string;
