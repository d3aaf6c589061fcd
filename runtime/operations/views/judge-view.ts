import type { Services } from '../../core/services.js';
import type { Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { compileView } from '../../views/compile-view.js';
import { readView } from '../../views/read-view.js';
import { ViewError, type ViewFault } from '../../views/view-error.js';
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
    return warnings.slice(0, MOST).map((each) => issue(each, 'warning'));
  } catch (error) {
    if (!(error instanceof ViewError)) throw error;
    return error.faults.slice(0, MOST).map((each) => issue(each));
  }
}
