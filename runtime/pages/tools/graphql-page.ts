import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';
import type { Subject } from './operation-pages.js';

interface GraphqlPage {
  readonly paths: Paths;
  readonly types: readonly string[];
  readonly place: string;
  readonly query: string;
  readonly isGuarded: boolean;
}

const render = template<GraphqlPage>('graphql');

/** To begin with, on the system and on a resource. */
const QUERY = `{
  PatientList(_count: 5) {
    id
    name { family given }
  }
}`;
const QUERY_OF_RESOURCE = `{
  id
  meta { lastUpdated }
}`;

/**
 * The page that sends queries to `$graphql` and lists the fields of the schema. It needs the script.
 * docs/decisions/0009-graphql-page.md
 *
 * @param subject the resource to ask, where it names one
 */
export function graphqlPage({ type, id }: Subject, site: Site, paths: Paths): Page {
  const place = type === undefined || id === undefined ? '' : `${type}/${id}`;
  const { isGuarded, tables } = site;
  const query = place === '' ? QUERY : QUERY_OF_RESOURCE;
  return framedPage(site, paths, 'GraphQL', render({ paths, types: tables.resourceTypes, place, query, isGuarded }));
}
