import type { IncludeDirective } from '../../store/store.js';

/** `Observation.subject -> Patient`, `Patient <- Observation.subject, again and again`. */
export function printInclude({ isReverse, source, params, targets, iterates }: IncludeDirective): string {
  const from = `${source}.${params.join('|')}`;
  const to = targets?.join('|') ?? 'any';
  return `${isReverse ? `${to} <- ${from}` : `${from} -> ${to}`}${iterates ? ', again and again' : ''}`;
}
