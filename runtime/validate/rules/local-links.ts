import { spend, type Environment } from '../../path/evaluate/environment.js';
import { isJson, PathItem, type Json } from '../../path/evaluate/item.js';

/** References within one resource. */
export interface LocalLinks {
  /** Ids that references, canonicals and URLs name as `#id`. */
  readonly linked: ReadonlySet<string>;
  /** Contained resources that refer to what contains them, as `#`. */
  readonly linking: ReadonlySet<Json>;
}

/** Primitive types that may be references. */
const URLS: ReadonlySet<string> = new Set(['canonical', 'uri', 'url']);

/** Finds the references of a resource to what it contains, by the types of its elements. */
export function localLinksOf(resource: PathItem, environment: Pick<Environment, 'schema' | 'budget'>): LocalLinks {
  const linked = new Set<string>();
  const linking = new Set<Json>();
  const visit = (item: PathItem, within: Json | undefined): void => {
    const { value, type } = item;
    if (typeof value === 'string') {
      if (!value.startsWith('#') || !(URLS.has(type) || type === 'Reference.reference')) return;
      if (value !== '#') linked.add(value.slice(1));
      else if (within !== undefined) linking.add(within);
      return;
    }
    const children: PathItem[] = [];
    environment.schema.allChildren(item, children);
    spend(environment as Environment, children.length);
    if (type === 'Reference' && isJson(value) && typeof value['reference'] === 'string') {
      visit(new PathItem(value['reference'], 'Reference.reference'), within);
    }
    for (const child of children) {
      const isContained =
        within === undefined && isJson(child.value) && typeof child.value['resourceType'] === 'string';
      visit(child, isContained ? (child.value as Json) : within);
    }
  };
  visit(resource, undefined);
  return { linked, linking };
}
