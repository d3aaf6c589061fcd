import { describeFaults } from './faults.js';
import type { LoadItem } from './items.js';
import type { Outcome } from './sink.js';

/** What is read of the answer to a batch or transaction. */
interface Answer {
  readonly entry?: readonly {
    readonly response?: {
      readonly status?: string;
      readonly etag?: string;
      readonly lastModified?: string;
      readonly outcome?: { readonly issue?: readonly { readonly details?: { readonly text?: string } }[] };
    };
  }[];
}

/** An entry that was executed. */
export interface Executed {
  readonly index: number;
  readonly outcome: Outcome;
}

/**
 * Returns the outcome of each writing entry of an executed Bundle, with the index of the entry.
 *
 * @param answer JSON text of the Bundle that was answered
 * @param began what was last changed before is not of this load: milliseconds since the epoch
 */
export function executed({ resource }: LoadItem, answer: string, began: number): Executed[] {
  const methods = methodsOf(resource['entry']);
  const { entry: answers = [] } = JSON.parse(answer) as Answer;
  return answers.flatMap(({ response = {} }, index): Executed[] => {
    const { status = '', etag, lastModified = '', outcome } = response;
    const method = methods[index];
    if (/^[45]/.test(status)) {
      const texts = outcome?.issue?.flatMap(({ details }) => details?.text ?? []) ?? [];
      const text = describeFaults(texts.map((each) => ({ text: each })));
      return [{ index, outcome: { error: new Error(text === '' ? status : `${status}: ${text}`) } }];
    }
    if (method === 'GET' || method === 'HEAD') return [];
    if (status.startsWith('201')) return [{ index, outcome: 'created' }];
    const isOld = method === 'POST' || (method === 'DELETE' ? etag === undefined : Date.parse(lastModified) < began);
    return [{ index, outcome: isOld ? 'unchanged' : 'updated' }];
  });
}

function methodsOf(entries: unknown): (string | undefined)[] {
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: { request?: { method?: string } } | null) => entry?.request?.method);
}
