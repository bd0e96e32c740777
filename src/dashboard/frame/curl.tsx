/** "Show as curl": the API calls behind a page, as commands that work once the API key is set. */

import { allows } from '../../http/actor.ts';
import type { Route } from '../../http/route.ts';
import { Copyable } from '../../ui/components.tsx';
import { useReader } from './reader.tsx';

/** An operation with the values of its parameters, as for `call.invoke`. */
export interface ApiCall {
  route: Pick<Route, 'method' | 'path'>;
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}

export function ShowAsCurl({ calls }: { calls: ApiCall[] }) {
  const { baseUrl, role, testMode } = useReader();
  const kind = testMode ? 'test-mode API key' : 'API key';
  return (
    <details class="curl screen-only">
      <summary>Show as curl</summary>
      <div class="stack">
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
    </details>
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
