import type { Services } from '../../core/services.js';
import type { Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { compileView } from '../compile-view.js';
import { readView } from '../read-view.js';
import { ViewError, type ViewFault } from '../view-error.js';
import { VIEW } from './find-artifact.js';

/** Issues that an answer lists, at most. */
const MOST = 100;

/** Says what a run of a view would refuse, and which of its paths are empty on every resource. */
export function judgeView(view: Resource, { tables, own }: Pick<Services, 'tables' | 'own'>): readonly Issue[] {
  const issue = ({ place, text }: ViewFault, severity?: 'warning'): Issue => ({
    ...{ code: 'view-invalid', text, expression: place === '' ? VIEW : `${VIEW}.${place}` },
    ...(severity !== undefined && { severity }),
  });
  try {
    const { warnings } = compileView(readView(view), tables, { now: new Date(), bases: own });
    return [...warnings.slice(0, MOST), ...releaseWarnings(view, tables.origin?.fhirVersion)].map((each) => issue(each, 'warning')); // prettier-ignore
  } catch (error) {
    if (!(error instanceof ViewError)) throw error;
    return error.faults.slice(0, MOST).map((each) => issue(each));
  }
}

/** Says of a view for other releases of FHIR that this server has another one. */
function releaseWarnings({ fhirVersion }: Resource, own: string | undefined): ViewFault[] {
  if (!Array.isArray(fhirVersion) || fhirVersion.length === 0 || own === undefined) return [];
  const release = own.split('.').slice(0, 2).join('.');
  if (fhirVersion.some((each) => `${String(each)}.`.startsWith(`${release}.`))) return [];
  return [
    {
      place: 'fhirVersion',
      text: `has ${fhirVersion.slice(0, 10).map(String).join(', ').slice(0, 100)}, and this server has ${own}`,
    },
  ];
}
