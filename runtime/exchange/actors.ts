import type { ActorClaim, Actors, ExchangeTransaction } from '../core/actors.js';

/** An actor of an exchange guide: what the server claims where it is one, and which rules hold then. */
interface ActorRow {
  readonly instantiates: readonly (string | ActorClaim)[];
  readonly guides: Actors['guides'];
  readonly transactions: readonly ExchangeTransaction[];
  readonly needsPatient?: true;
}

const MHD = 'https://profiles.ihe.net/ITI/MHD';
const EU = 'http://hl7.eu/fhir/health-data-api';
const PDQM = 'https://profiles.ihe.net/ITI/PDQm';
const IPA = 'http://hl7.org/fhir/uv/ipa';

/** Editions for R4 and R5 share their URLs, so that the version tells them apart. */
const MHD_VERSION = '5.1.0';
const MHD_GUIDE = `${MHD}/ImplementationGuide/ihe.iti.mhd|${MHD_VERSION}`;
const EU_GUIDE = `${EU}/ImplementationGuide/hl7.fhir.eu.health-data-api`;

/** The actors that the server can be, by the names of the setting `profiles.actors`. */
const ACTORS = {
  'document-responder': {
    instantiates: [`${MHD}/CapabilityStatement/IHE.MHD.DocumentResponder|${MHD_VERSION}`],
    guides: [MHD_GUIDE],
    transactions: ['ITI-66', 'ITI-67', 'ITI-68'],
  },
  'document-recipient': {
    instantiates: [
      'DocumentRecipient',
      'DocumentRecipient.UnContained',
      'DocumentRecipient.Fdoc',
      'DocumentRecipient.Generate',
    ].map((name) => `${MHD}/CapabilityStatement/IHE.MHD.${name}|${MHD_VERSION}`),
    guides: [MHD_GUIDE],
    transactions: ['ITI-65', 'ITI-106'],
  },
  'document-access-provider': {
    instantiates: [`${EU}/CapabilityStatement/EEHRxF-DocumentAccessProvider`],
    guides: [MHD_GUIDE, EU_GUIDE],
    transactions: ['ITI-67', 'ITI-68', 'ITI-78'],
  },
  'document-submission': {
    instantiates: [
      `${EU}/CapabilityStatement/EEHRxF-DocumentAccessProvider-SubmissionOption`,
      `${MHD}/CapabilityStatement/IHE.MHD.DocumentRecipient.Simplified|${MHD_VERSION}`,
    ],
    guides: [MHD_GUIDE, EU_GUIDE],
    transactions: ['ITI-105'],
  },
  'patient-demographics-supplier': {
    instantiates: [
      {
        canonical: `${PDQM}/CapabilityStatement/IHE.PDQm.PatientDemographicsSupplierMatch`,
        // HL7's package of extensions brings the parameter.
        needs: { type: 'Patient', parameter: 'mothersMaidenName' },
      },
    ],
    guides: [`${PDQM}/ImplementationGuide/ihe.iti.pdqm`],
    transactions: ['ITI-78', 'ITI-119'],
  },
  'resource-access-provider': {
    instantiates: [`${EU}/CapabilityStatement/EEHRxF-ResourceAccessProvider`, `${IPA}/CapabilityStatement/ipa-server`],
    guides: [EU_GUIDE, `${IPA}/ImplementationGuide/hl7.fhir.uv.ipa`],
    transactions: ['ITI-78', 'ITI-119'],
    needsPatient: true,
  },
} as const satisfies Record<string, ActorRow>;

/** The name of an actor. */
export type ActorName = keyof typeof ACTORS;

/** The names of all actors. */
export const ACTOR_NAMES = Object.keys(ACTORS) as readonly ActorName[];

/** Transactions of documents, whose events have the shape of their profiles wherever documents are taken apart. */
const OF_DOCUMENTS: readonly ExchangeTransaction[] = ['ITI-65', 'ITI-66', 'ITI-67', 'ITI-68', 'ITI-105', 'ITI-106'];

/** Those of them that are ordinary writes where documents are not taken apart. */
const PUBLISHING: ReadonlySet<ExchangeTransaction> = new Set(['ITI-65', 'ITI-105', 'ITI-106']);

/** Returns what some actors do together. @param documents whether documents are taken apart (`exchange.documents`) */
export function actorsOf(names: readonly ActorName[], documents = true): Actors {
  const rows = names.map((name): ActorRow => ACTORS[name]);
  const claims = rows.flatMap(({ instantiates }) => instantiates);
  const transactions = rows.flatMap((row) => row.transactions);
  return {
    instantiates: claims.map((claim) => (typeof claim === 'string' ? { canonical: claim } : claim)),
    guides: unique(rows.flatMap(({ guides }) => guides)),
    transactions: new Set(
      documents ? [...OF_DOCUMENTS, ...transactions] : transactions.filter((each) => !PUBLISHING.has(each)),
    ),
    needsPatient: rows.some(({ needsPatient }) => needsPatient === true),
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
