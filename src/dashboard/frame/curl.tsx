/** What someone needs to share or script a page: its link, its ID, and the API calls behind it as commands. */

import { allows } from '../../http/actor.ts';
import type { Route } from '../../http/route.ts';
import { Copyable, Popover } from '../../ui/components.tsx';
import { useReader } from './reader.tsx';

/** An operation with the values of its parameters, as for `call.invoke`. */
export interface ApiCall {
  route: Pick<Route, 'method' | 'path'>;
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}

/** The ID of the object that a page is about, at the end of its path. */
const ID_IN_PATH = /\/([a-z]{3,4}_[0-9a-z]{26})(?:\?|$)/;

interface PageToolsProps {
  appUrl: string;
  path: string;
  calls: ApiCall[];
}

/** One icon beside the heading of a page. */
export function PageTools({ appUrl, path, calls }: PageToolsProps) {
  const [, id] = ID_IN_PATH.exec(path) ?? [];
  return (
    <Popover
      id="page-tools"
      class="page-tools printed"
      buttonClass="button quiet-icon"
      label="Copy link or curl command"
      button={
        <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
          <path d="M6.7 9.3a2.8 2.8 0 0 0 4 0l2.1-2.1a2.8 2.8 0 0 0-4-4l-1 1m1.5 2.5a2.8 2.8 0 0 0-4 0L3.2 8.8a2.8 2.8 0 0 0 4 4l1-1" />
        </svg>
      }
    >
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
      {calls.length > 0 && <Commands calls={calls} />}
    </Popover>
  );
}

function Commands({ calls }: { calls: ApiCall[] }) {
  const { baseUrl, role, testMode } = useReader();
  const kind = testMode ? 'test-mode API key' : 'API key';
  return (
    <div class="curl stack">
      <h2>curl</h2>
      <p class="small muted">
        The same data through the API. Set <code>API_KEY</code> to{' '}
        {allows(role, 'member') ? (
          <>
            one of your <a href="/api-keys">{kind}s</a>
          </>
        ) : (
          `${testMode ? 'a' : 'an'} ${kind}`
        )}
        .
      </p>
      {calls.map((call) => {
        const text = curlCommand(call, baseUrl);
        return (
          <div key={text} class="box command">
            <Copyable text={text} label="the command" />
          </div>
        );
      })}
    </div>
  );
}

/** A shell command. Values are quoted, so that none of them can end the command. */
export function curlCommand({ route, params = {}, query = {}, body }: ApiCall, baseUrl: string) {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  const isMethodImplied = route.method === 'GET' || (route.method === 'POST' && body !== undefined);
  return [
    `curl ${isMethodImplied ? '' : `-X ${route.method} `}${quoted(`${baseUrl}${path}${search}`)}`,
    '-H "Authorization: Bearer $API_KEY"',
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** A word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
