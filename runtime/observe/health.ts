import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether something can serve, and what is wrong. */
export interface Check {
  readonly ok: boolean;
  readonly detail?: string;
}

/** Answers `/health/live` and `/health/ready`. */
export interface Health {
  /** @returns whether the request was one of these, and is answered */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** From now on not ready: the server is about to end. */
  drain(): void;
  readonly draining: boolean;
}

/** How long a check may take, and how long its result serves others, in milliseconds. */
const CHECK_TIME = 5000;
const CHECK_AGE = 500;

/**
 * Live: the process answers. Ready: it takes requests, which is so until it drains, and while its store works.
 *
 * @param check asks the store; probes that come thick and fast share one answer
 */
export function createHealth(check: () => Promise<Check>, now: () => number = Date.now): Health {
  let draining = false;
  let last: { readonly at: number; readonly result: Promise<Check> } | undefined;

  async function ready(): Promise<Check> {
    if (draining) return { ok: false, detail: 'the server is shutting down' };
    if (last === undefined || now() - last.at > CHECK_AGE) last = { at: now(), result: bounded(check) };
    return last.result;
  }

  return {
    handle(req, res) {
      // Asked of each request.
      if (req.url?.startsWith('/health/') !== true) return false;
      const path = req.url.split('?', 1)[0];
      if (path !== '/health/live' && path !== '/health/ready') return false;
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        res.setHeader('Allow', 'GET, HEAD');
        answer(res, 405, { ok: false, detail: 'only GET and HEAD' });
      } else if (path === '/health/live') answer(res, 200, { ok: true });
      else void ready().then((result) => answer(res, result.ok ? 200 : 503, result));
      return true;
    },
    drain() {
      draining = true;
    },
    get draining() {
      return draining;
    },
  };
}

async function bounded(check: () => Promise<Check>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Check>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIME, { ok: false, detail: 'the store does not answer' });
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return { ok: false, detail: 'the store does not work' };
  } finally {
    clearTimeout(timer);
  }
}

function answer(res: ServerResponse, status: number, { ok, detail }: Check): void {
  const body = JSON.stringify({ status: ok ? 'ok' : 'unavailable', ...(detail === undefined ? {} : { detail }) });
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  res.end(body);
}
