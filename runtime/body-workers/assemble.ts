import { Decimal } from '../fhir/decimal.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';
import type { Piece, Step } from './pieces.js';

/** A tree that comes in pieces. */
export interface Assembly {
  add(piece: Piece): void;
  /** The tree, once all pieces have come. */
  readonly tree: JsonValue[] | JsonObject;
}

type Holder = Record<string | number, JsonValue>;

/** Begins to put a tree together that `cutTree` has cut; what was neither array nor object comes as an array of one. */
export function assemble(): Assembly {
  const containers: (JsonValue[] | JsonObject)[] = [];

  function put(into: number | undefined, name: string | undefined, value: JsonValue): void {
    const container = into === undefined ? undefined : containers[into];
    if (Array.isArray(container)) container.push(value);
    else if (container !== undefined && name !== undefined) container[name] = value;
  }

  function take(step: Step): void {
    if ('open' in step) {
      const container = step.open === 'array' ? [] : {};
      put(step.into, step.name, container);
      containers.push(container);
      return;
    }
    const some = unpack(step.text);
    const container = containers[step.into];
    if (Array.isArray(container)) for (const item of some as JsonValue[]) container.push(item);
    else if (container !== undefined) Object.assign(container, some);
  }

  return {
    add: (piece) => piece.forEach(take),
    get tree() {
      const [tree] = containers;
      if (tree === undefined) throw new Error('a tree without a root');
      return tree;
    },
  };
}

function unpack(text: string): JsonValue {
  const [some, decimals] = JSON.parse(text) as [JsonValue, (string | number)[][]];
  for (const place of decimals) {
    const number = place.pop() as string;
    const last = place.pop() as string | number;
    let holder = some as Holder;
    for (const step of place) holder = holder[step] as Holder;
    holder[last] = new Decimal(number);
  }
  return some;
}
