/** Keeps a form from overwriting the changes that somebody else has made since it was opened. */

import { etagOf } from '../../http/response.ts';
import type { Route } from '../../http/route.ts';
import { readForm } from './form.tsx';

const NAME = 'version';

/** What can be edited of an object, as the operation `get` returns it. */
export const versionOf = ({ etag }: Pick<Route, 'etag'>, object: unknown): string =>
  etagOf(etag!(object));

/** Sends the version that the form shows. */
export const VersionField = ({ version }: { version: string | undefined }) =>
  version === undefined ? null : <input type="hidden" name={NAME} value={version} />;

/** Header fields for `call.invoke`: the operation fails with `precondition_failed` if there is another version. */
export const ifUnchanged = (raw: Uint8Array) => ifVersion(readForm(raw)(NAME));

/** Other characters are in no ETag, and not allowed in a header. */
export const ifVersion = (version: string): Record<string, string> =>
  version === '' ? {} : { 'if-match': version.replace(/[^\x21-\x7e]/g, '?') };
