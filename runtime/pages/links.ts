import type { Paths } from './site.js';

/** Makes the path that a reference leads to on this server; undefined: it leads elsewhere, or nowhere. */
export type LinkOf = (reference: string) => string | undefined;

/** `Patient/1`, `Patient/1/_history/2`. */
const LOCAL = /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

/** The references that lead to resources of this server: relative ones, and absolute ones below its base. */
export function linksOf({ fhir, base }: Pick<Paths, 'fhir' | 'base'>): LinkOf {
  const own = `${base}/`;
  return (reference) => {
    const local = reference.startsWith(own) ? reference.slice(own.length) : reference;
    return LOCAL.test(local) ? `${fhir}/${local}` : undefined;
  };
}

/** The path and query of a URL of this server, as links of Bundles have it; undefined: it is none. */
export function ownUrl(url: string, { fhir, base }: Pick<Paths, 'fhir' | 'base'>): string | undefined {
  const rest = url.slice(base.length);
  return url.startsWith(base) && /^[/?]/.test(rest) ? fhir + rest : undefined;
}

/** The path of a resource, or of a version of it. */
export function resourcePath({ fhir }: Pick<Paths, 'fhir'>, type: string, id: string, versionId?: string): string {
  const version = versionId === undefined ? '' : `/_history/${encodeURIComponent(versionId)}`;
  return `${fhir}/${encodeURIComponent(type)}/${encodeURIComponent(id)}${version}`;
}
