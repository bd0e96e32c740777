/** What someone needs to send a page on: its link and, on the page of an object, the ID. */

import { Copyable } from '../../report/html/components.tsx';

/** The ID of the object that a page is about, at the end of its path. */
const ID_IN_PATH = /\/([a-z]{3,4}_[0-9a-z]{26})(?:\?|$)/;

export function PageLinks({ appUrl, path }: { appUrl: string; path: string }) {
  const [, id] = ID_IN_PATH.exec(path) ?? [];
  return (
    <dl class="page-links">
      <div>
        <dt>Link</dt>
        <dd>
          <Copyable text={`${appUrl.replace(/\/$/, '')}${path}`} label="the link to this page" />
        </dd>
      </div>
      {id !== undefined && (
        <div>
          <dt>ID</dt>
          <dd>
            <Copyable text={id} label="the ID" />
          </dd>
        </div>
      )}
    </dl>
  );
}
