import type { Resource } from '../../fhir/resource.js';
import type { Fault } from '../fault.js';
import { jsonPathOf } from '../json-path-of.js';
import type { ValidationIssue } from '../validation-issue.js';

/** What validation by profiles found, as a fault of the resource. */
export function profileFault({ issue, key, text, expression }: ValidationIssue, resource: Resource): Fault {
  const code = issue === 'too-costly' ? 'rules-too-costly' : 'profile-broken';
  return { code, issue, text, expression, key, path: jsonPathOf(resource, expression) };
}
