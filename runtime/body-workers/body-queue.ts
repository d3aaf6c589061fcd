import { FhirError } from '../fhir/errors.js';

/** Lets so many bytes in at a time, and others in their order when these are done with. */
export interface BodyQueue {
  /**
   * Resolves when there is room.
   *
   * @param size more than may be in at a time is let in alone
   * @returns gives the room back
   * @throws FhirError `server-busy` where too many wait, `body-incomplete` where the signal aborts
   */
  enter(size: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly size: number;
  readonly admit: () => void;
}

/**
 * @param most bytes that may be in, and wait, at a time
 * @param refusal what is said to those for whom there is no room to wait
 */
export function openBodyQueue(
  most: { readonly inside: number; readonly waiting: number },
  refusal = 'Too many large bodies wait to be read; try again',
): BodyQueue {
  const queue: Waiting[] = [];
  let inside = 0;
  let waiting = 0;

  function fits(size: number): boolean {
    return inside === 0 || inside + size <= most.inside;
  }

  function admitNext(): void {
    for (let next = queue[0]; next !== undefined && fits(next.size); next = queue[0]) {
      queue.shift();
      waiting -= next.size;
      next.admit();
    }
  }

  function take(size: number): () => void {
    let isOut = false;
    inside += size;
    return () => {
      if (isOut) return;
      isOut = true;
      inside -= size;
      admitNext();
    };
  }

  return {
    enter(size, signal) {
      if (queue.length === 0 && fits(size)) return Promise.resolve(take(size));
      if (waiting + size > most.waiting) {
        return Promise.reject(new FhirError('server-busy', refusal, { headers: { 'Retry-After': '5' } }));
      }
      waiting += size;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          queue.splice(queue.indexOf(one), 1);
          waiting -= size;
          reject(new FhirError('body-incomplete', 'The client left'));
          admitNext();
        };
        const one: Waiting = {
          size,
          admit: () => {
            signal.removeEventListener('abort', leave);
            resolve(take(size));
          },
        };
        queue.push(one);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
