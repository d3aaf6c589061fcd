import type { LoadItem } from './items.js';

/** Outcome of one item. */
export type Outcome = 'created' | 'updated' | 'unchanged' | { readonly error: unknown };

/** Where items go. */
export interface Sink {
  /** What a package has under the id of another canonical is stored under an id of its own. */
  readonly keepsOthers?: true;
  /**
   * Takes items, no two of them the same resource; what came of each is reported through `done`, maybe later. Resolves
   * when it can take more.
   *
   * @throws LoadStopped, or what else makes it pointless to go on
   */
  take(items: readonly LoadItem[], done: (item: LoadItem, outcome: Outcome) => void): Promise<void>;
  /**
   * Executes a batch or transaction after all that was taken before, and tells what came of its entries; they are items of
   * their own then.
   *
   * @throws LoadStopped, or what else makes it pointless to go on
   */
  execute(item: LoadItem, done: (item: Pick<LoadItem, 'place'>, outcome: Outcome) => void): Promise<void>;
  /** Waits until all is reported. */
  end(): Promise<void>;
}

/** Nothing more can be loaded, for a reason that is the same for all that is left. */
export class LoadStopped extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LoadStopped';
  }
}

/** Bearer tokens for a server. */
export interface Tokens {
  /** @throws LoadStopped where none can be had */
  current(): Promise<string>;
  /** One that is newer than one that the server refused; undefined: there is none. @throws LoadStopped */
  renew(refused: string): Promise<string | undefined>;
}
