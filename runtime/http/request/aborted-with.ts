import type { ServerResponse } from 'node:http';

/** Aborts when the connection ends before the answer is out. */
export function abortedWith(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}
