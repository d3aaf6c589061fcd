import { FhirError } from '../../fhir/errors.js';
import { decodeJws } from '../keys/jws.js';
import type { OAuthEndpoint, OAuthReply, OAuthRequest } from './messages.js';
import { tellable, type AuthEvent, type AuthEvents, type EndpointName } from './events.js';
import { claimed } from './mask-tokens.js';
import type { Rates } from './rates.js';
import { readForm } from './read-form.js';
import { Refused, refusalReply } from './refusals.js';

/** Facts about a request that become known while it is answered. They go into its event. */
export type Trace = { -readonly [K in 'clientId' | 'isVerified' | 'scope' | 'jti']?: AuthEvent[K] };

/** Answers a request whose form could be read, as one endpoint does. @throws Refused */
export type Answer = (form: URLSearchParams, request: OAuthRequest, trace: Trace) => Promise<OAuthReply>;

/** Parts that every endpoint works with. */
export interface EndpointNeeds {
  readonly rates: Rates;
  readonly events: AuthEvents;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Seconds after which a server that has no store may have one again. */
const RETRY = '2';

/**
 * An endpoint around what it answers: the form is read, too many failures are turned away before anything is evaluated,
 * refusals and troubles become replies, and one event tells what happened.
 */
export function createEndpoint(
  name: EndpointName,
  { rates, events, now }: EndpointNeeds,
  answer: Answer,
): OAuthEndpoint {
  return async (request) => {
    const { address, requestId } = request;
    const trace: Trace = {};
    let form: URLSearchParams | undefined;
    let claim: string | undefined;
    const tell = (reply: OAuthReply, more: Pick<AuthEvent, 'outcome' | 'refusal' | 'detail'>): OAuthReply => {
      const { clientId = claimed(claim), isVerified = false, ...rest } = trace;
      events.happened({
        endpoint: name,
        time: now(),
        address,
        status: reply.status,
        isVerified,
        ...(requestId === undefined ? {} : { requestId }),
        ...(clientId === undefined ? {} : { clientId }),
        ...(form === undefined ? {} : { request: tellable(form) }),
        ...rest,
        ...more,
      });
      return reply;
    };
    const refuse = (refused: Refused, outcome: 'refused' | 'failed'): OAuthReply =>
      tell(refusalReply(refused), {
        outcome,
        refusal: refused.refusal,
        ...(refused.detail === undefined ? {} : { detail: refused.detail }),
      });

    try {
      const read = attempt(() => readForm(request));
      if (read instanceof Refused) turnAway(rates, address, undefined);
      else {
        form = read;
        claim = claimOf(form);
        turnAway(rates, address, claim);
      }
      if (read instanceof Refused) throw read;
      return tell(await answer(read, request, trace), { outcome: 'success' });
    } catch (error) {
      if (error instanceof Refused) {
        if (error.refusal !== 'rate') rates.failed(address, claim);
        return refuse(error, 'refused');
      }
      const isBusy = error instanceof FhirError && error.status === 503;
      if (!isBusy) events.defect(error);
      return refuse(
        isBusy ? new Refused('unavailable', error.code, { 'Retry-After': RETRY }) : new Refused('internal'),
        'failed',
      );
    }
  };
}

function attempt(read: () => URLSearchParams): URLSearchParams | Refused {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** @throws Refused */
function turnAway(rates: Rates, address: string, claim: string | undefined): void {
  const wait = rates.wait(address, claim);
  if (wait > 0) throw new Refused('rate', undefined, { 'Retry-After': String(wait) });
}

const MAX_CLAIM = 255;

/** The client that a request claims to be from. Longer ids than there are count as one. */
function claimOf(form: URLSearchParams): string | undefined {
  const iss = decodeJws(form.get('client_assertion') ?? '')?.payload['iss'] ?? form.get('client_id') ?? undefined;
  return typeof iss === 'string' ? iss.slice(0, MAX_CLAIM) : undefined;
}
