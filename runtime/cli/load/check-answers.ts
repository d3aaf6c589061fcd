import { withoutSlash } from './http-sink.js';
import { isDistrusted, noAnswer } from './no-answer.js';
import { LoadStopped } from './sink.js';

/** Attempts, the pauses between them, and the longest wait for an answer, in milliseconds: a server may be starting. */
const ATTEMPTS = 4;
const PAUSE = 500;
const PATIENCE = 10_000;

/**
 * Makes sure that a server answers at a FHIR base, whatever it is, before files are read for it.
 *
 * @throws LoadStopped naming the URL, within two seconds where no connection can be had
 */
export async function checkAnswers(url: string): Promise<void> {
  const base = withoutSlash(url);
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await fetch(`${base}/metadata`, {
        headers: { Accept: 'application/fhir+json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(PATIENCE),
      });
      await answer.body?.cancel();
      return;
    } catch (error) {
      if (attempt < ATTEMPTS && (error as Error).name !== 'TimeoutError' && !isDistrusted(error)) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      } else throw new LoadStopped(noAnswer(base, error), { cause: error });
    }
  }
}
