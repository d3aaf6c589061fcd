import type { Resource } from '../fhir/resource.js';
import { isObject } from '../fhir/resource.js';
import type { FailedCall } from '../core/call-audit.js';
import type { Reply } from '../core/call.js';
import type { Actors, ExchangeTransaction } from '../core/actors.js';
import { hasCode } from './elements.js';
import { LIST_TYPES } from './mhd.js';
import { isPublication } from './publish-rules.js';
import { DOCUMENT_TYPES } from './retrieve.js';

/** Types whose search is a transaction where it names the patient. */
const BY_PATIENT: Readonly<Record<string, ExchangeTransaction>> = { DocumentReference: 'ITI-67', List: 'ITI-66' };

/** Operations that are transactions. */
const BY_OPERATION: Readonly<Record<string, ExchangeTransaction>> = {
  'DocumentReference/$generate-metadata': 'ITI-106',
  'Patient/$match': 'ITI-119',
};

/**
 * Returns the transaction of an exchange guide that a call is, if the server is an actor of it.
 *
 * @param operation name of the operation, with its `$`
 * @param reply absent: the call failed. Of a read it names the DocumentReference that the document belongs to (`about`)
 */
export function transactionOf(
  call: FailedCall,
  operation: string | undefined,
  reply: Pick<Reply, 'about'> | undefined,
  { transactions }: Actors,
): ExchangeTransaction | undefined {
  const found = transactions.size === 0 ? undefined : find(call, operation, reply);
  return found !== undefined && transactions.has(found) ? found : undefined;
}

function find(
  { interaction, type = '', params, form, body, isProvided }: FailedCall,
  operation: string | undefined,
  reply: Pick<Reply, 'about'> | undefined,
): ExchangeTransaction | undefined {
  switch (interaction) {
    case 'create':
      if (!isObject(body)) return undefined;
      if (isPublication(body as Resource)) return 'ITI-105';
      // One event is enough for a transaction: that of its submission set.
      return isProvided === true && hasCode(body['code'], LIST_TYPES, 'submissionset') ? 'ITI-65' : undefined;
    case 'search-type': {
      if (type === 'Patient') return 'ITI-78';
      const names = [...(params?.keys() ?? []), ...(form?.keys() ?? [])];
      return names.some((name) => /^patient(?:[:.]|$)/.test(name)) ? BY_PATIENT[type] : undefined;
    }
    case 'read':
      return DOCUMENT_TYPES.has(type) && reply?.about?.some((each) => each.type === 'DocumentReference') === true
        ? 'ITI-68'
        : undefined;
    case 'operation':
      return BY_OPERATION[`${type}/${operation}`];
    default:
      return undefined;
  }
}
