import { html, template, type Html } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import { resourcePath } from '../links.js';
import type { Paths, Site } from '../site.js';
import { templateOf, type TemplateTables } from './template-of.js';

interface EditPage {
  readonly paths: Paths;
  readonly title: string;
  readonly type: string;
  /** Of the resource that is edited or copied; absent: a new one begins with a template. */
  readonly id: string | undefined;
  readonly path: string | undefined;
  readonly isCopy: boolean;
  /** It exists, and is changed. */
  readonly isUpdate: boolean;
  readonly text: string;
  readonly plain: Html;
}

/** The form that edits without a script, and what came of it. */
export interface PlainForm {
  readonly type: string;
  /** Of the resource that is edited; absent: a new one. */
  readonly id: string | undefined;
  /** That was read, and that saving replaces. */
  readonly version: string | undefined;
  readonly text: string;
  /** One line about what was done. */
  readonly state?: string;
  readonly issues?: readonly { readonly severity: string; readonly text: string; readonly source?: string }[];
  /** It asks whether the resource is to be deleted. */
  readonly isDeletion?: boolean;
  /** Another writer came first: the version there is now. */
  readonly newer?: string | undefined;
}

const renderPlain = template<PlainForm & { readonly paths: Paths; readonly isFilled: boolean }>('edit-plain');
const renderPlainPage = template<{ title: string; form: Html }>('edit-plain-page');
const renderEdit = template<EditPage>('edit');
const renderUpload = template<{ paths: Paths }>('upload');

/**
 * The page with the editor of one resource. It has no data: its script reads the resource with the token, has it validated, and
 * writes it with `If-Match`, so that scopes decide as in every request.
 *
 * @param id of the resource that is edited; absent: a new one is created
 * @param isCopy a new one begins with the content of that resource
 */
export function editPage(
  type: string,
  id: string | undefined,
  isCopy: boolean,
  tables: TemplateTables,
  site: Site,
  paths: Paths,
): Page {
  const isUpdate = id !== undefined && !isCopy;
  const title = isUpdate ? `Edit ${type}/${id}` : `New ${type}`;
  const text = id === undefined ? JSON.stringify(templateOf(type, tables), null, 2) : '';
  const path = id === undefined ? undefined : resourcePath(paths, type, id);
  const plain = html(renderPlain({ paths, type, id, version: undefined, text, isFilled: id === undefined }));
  return framedPage(site, paths, title, renderEdit({ paths, title, type, id, path, isCopy, isUpdate, text, plain }));
}

/** The page that answers a form that was sent without a script. */
export function plainEditPage(form: PlainForm, site: Site, paths: Paths): Page {
  const { type, id } = form;
  const title = id === undefined ? `New ${type}` : `${form.isDeletion === true ? 'Delete' : 'Edit'} ${type}/${id}`;
  const content = html(renderPlain({ ...form, paths, isFilled: true }));
  return framedPage(site, paths, title, renderPlainPage({ title, form: content }));
}

/** The page that sends the resources of a file. */
export function uploadPage(site: Site, paths: Paths): Page {
  return framedPage(site, paths, 'Upload', renderUpload({ paths }));
}
