/** What was found, as far as it takes memory. */
interface Found {
  readonly key: string | number;
  readonly id?: string;
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

/** What is kept in all, if nothing else is said, and of one order, about, in bytes. */
const MOST = 8_000_000;
const LARGEST = 1_000_000;

/** What an order takes beside its name, and a resource beside its texts. */
const ORDER = 400;
const EACH = 200;

/** Nothing is known yet. @param most what is kept in all, about, in bytes */
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
      const own = order.hits.reduce((sum, hit) => sum + sizeOf(hit), ORDER + name.length);
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

function sizeOf({ key, id, values }: Found): number {
  return EACH + textIn(key) + textIn(id) + textIn(values);
}

/** Characters of texts in a value. */
function textIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, each) => sum + textIn(each), 0) : 0;
}
