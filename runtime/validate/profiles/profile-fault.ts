import type { Resource } from '../../fhir/resource.js';
import type { Fault } from '../fault.js';
import { jsonPathOf } from '../json-path-of.js';
import type { ValidationIssue } from '../validation-issue.js';

/** What validation by profiles found, as a fault of the resource. */
export function profileFault({ issue, key, text, expression }: ValidationIssue, resource: Resource): Fault {
  return { code: 'profile-broken', issue, text, expression, key, path: jsonPathOf(resource, expression) };
}
