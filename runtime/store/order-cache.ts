/** What was found, as far as it takes memory. */
interface Found {
  readonly key: string | number;
  /** What it is sorted by. */
  readonly values: readonly unknown[];
}

/**
 * Orders that searches came to, by name, within bounds: a client that walks through pages asks for what follows, and the order of
 * all matches need not be made anew for each page. Who uses it finds out whether an order is still right.
 */
export interface OrderCache<Order> {
  get(name: string): Order | undefined;
  keep(name: string, order: Order): void;
  forget(name: string): void;
  clear(): void;
}

/** What is kept in all, if nothing else is said, and of one order, about, in characters. */
const MOST = 4_000_000;
const LARGEST = 500_000;

/** What a resource takes beside its texts. */
const EACH = 100;

/** Nothing is known yet. @param most what is kept in all, about, in characters */
export function openOrderCache<Order extends { readonly hits: readonly Found[] }>(most = MOST): OrderCache<Order> {
  const kept = new Map<string, { readonly order: Order; readonly size: number }>();
  let size = 0;

  function forget(name: string): void {
    size -= kept.get(name)?.size ?? 0;
    kept.delete(name);
  }

  return {
    get: (name) => kept.get(name)?.order,
    forget,
    keep(name, order) {
      forget(name);
      const own = order.hits.reduce((sum, hit) => sum + sizeOf(hit), name.length);
      if (own > LARGEST) return;
      kept.set(name, { order, size: own });
      size += own;
      for (const oldest of kept.keys()) {
        if (size <= most) break;
        forget(oldest);
      }
    },
    clear() {
      kept.clear();
      size = 0;
    },
  };
}

function sizeOf({ key, values }: Found): number {
  return EACH + textIn(key) + textIn(values);
}

/** Characters of texts in a value. */
function textIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, each) => sum + textIn(each), 0) : 0;
}
