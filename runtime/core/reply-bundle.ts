import { joinBundle, type Reply, type ReplyBundle } from './call.js';

/** A Bundle of more characters than this is sent entry by entry. */
const LARGE = 256 * 1024;

/** The answer that is a Bundle: in parts where it is large. */
export function replyBundle(bundle: ReplyBundle): Reply {
  const size = bundle.entries.reduce((sum, { length }) => sum + length, 0);
  return size > LARGE ? { status: 200, bundle } : { status: 200, json: joinBundle(bundle) };
}
