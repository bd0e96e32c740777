/** The general topics of the API reference, such as authentication, errors, and pagination. */

import type { JSX } from 'preact';
import type { Rate } from '../../config/readers.ts';
import { ERROR_TYPES, type ErrorType } from '../../http/error-types.ts';
import { ERROR_STATUS, type ErrorCode } from '../../lib/errors.ts';
import { Copyable } from '../../ui/components.tsx';

export interface ServiceInfo {
  baseUrl: string;
  version: string;
  /** Null if the service has no general rate limit. */
  rate: Rate | null;
}

/** By anchor, in the order of the page. A string is a paragraph with `code` in backticks. */
export const TOPICS: Record<
  string,
  [title: string, blocks: (service: ServiceInfo) => (string | JSX.Element)[]]
> = {
  authentication: [
    'Authentication',
    ({ baseUrl }) => [
      `The API uses API keys to authenticate requests. Send your key in the \`Authorization\` header:
      \`Authorization: Bearer <key>\`. Keys start with \`dlv_live_\` or \`dlv_test_\`. A key is
      shown only once, when you create it. You can revoke it at any time.`,
      `A key has a role. It has no more permissions than the current role of its member.`,
      `The commands of this reference read the key from the shell variable \`API_KEY\`, and IDs in paths
      from variables such as \`TEST_ID\`. This command reads the key without showing it or adding it
      to your shell history. The next one shows which member and role the key has:`,
      <Command text="read -rs API_KEY" label="the command to read the key" />,
      <Command
        text={`curl "${baseUrl}/v1/me" \\\n  -H "Authorization: Bearer $API_KEY"`}
        label="the command to get your account"
      />,
      `There are four roles, and each one includes the permissions of those before it. A \`viewer\`
      reads tests and reports, and a \`member\` also creates them. An \`admin\` also manages the team.
      The \`owner\` can do everything. Each operation lists its allowed roles.`,
    ],
  ],
  requests: [
    'Requests and responses',
    ({ baseUrl }) => [
      `The base URL of the API is \`${baseUrl}\`. Request bodies are JSON in UTF-8, up to 1 MB, with
      \`Content-Type: application/json\`. Without a content type, or with \`text/plain\`, a JSON object is
      accepted too. Operations without parameters in the body accept only an empty body or an empty JSON
      object; any other body returns 400 with the code \`unexpected_body\`. A few operations accept or return a message, HTML, PDF or
      CSV instead; their descriptions say so.`,
      `Times are in UTC with milliseconds, such as \`2026-11-21T10:00:00.000Z\`. Every object has an
      \`object\` field with its type, and an \`id\` with a prefix for the type, such as \`test_\` or
      \`key_\`. IDs sort by creation time.`,
      `Requests that read or change an object return 200. Requests that create one return 201, with a
      \`Location\` header if you can get the new object. A PATCH request changes only the fields that you send; \`null\` clears an
      optional one. A DELETE request returns \`id\`, \`object\` and \`"deleted": true\`.`,
      `Every response has an \`X-Request-Id\` header. Use it to find the request in the server log.`,
    ],
  ],
  errors: [
    'Errors',
    () => [
      `Errors use the problem details format (RFC 9457) with the content type \`application/problem+json\`.
      Handle errors by their \`code\`, which never changes. The \`detail\` is meant for people. If
      parameters are invalid or unknown, \`errors\` lists each of them. \`type\` is the path of a page about
      the error on this server.`,
      <pre class="box">{PROBLEM}</pre>,
      <Statuses entries={Object.entries(ERROR_TYPES).map(errorEntry)} />,
    ],
  ],
  pagination: [
    'Pagination',
    ({ baseUrl }) => [
      `List operations return objects in \`data\`, newest first, and set \`has_more\` if there are more.
      \`limit\` is 1 to 100, with a default of 20. For the next page, send the last \`id\` of the page
      as \`starting_after\`. For the previous page, send the first \`id\` as \`ending_before\`. Objects
      created in the meantime don't shift the pages.`,
      `An ID that isn't in the list returns 400 with the code \`invalid_cursor\`, even if its object has been deleted. In that case, send the ID of the object before it on the page, or start again at the first
      page. Filters may change between two pages: an object that no longer matches is still a valid
      cursor. The list of team members has a single page.`,
      <Command
        text={`curl "${baseUrl}/v1/tests?limit=50&starting_after=$TEST_ID" \\\n  -H "Authorization: Bearer $API_KEY"`}
        label="the command to get the next page of tests"
      />,
    ],
  ],
  idempotency: [
    'Idempotent requests',
    () => [
      `To retry a POST request safely, send an \`Idempotency-Key\` header if the operation
      accepts one. Choose a unique key of 1 to 255 characters, and send the same key when you retry.`,
      `For 24 hours, requests with the same key take effect only once and return the same response.
      A repeated response has the header \`Idempotent-Replayed: true\`. The same key with a different
      request returns 422. If the first request is still running, the retry returns 409.`,
    ],
  ],
  conditions: [
    'Conditional requests',
    () => [
      `Responses with an object that can change have an \`ETag\` header. Send its value as
      \`If-Match\` with a PATCH or DELETE request to avoid overwriting other changes. If the object
      has changed since, the request returns 412 and changes nothing.`,
      `The ETag changes only with what you can edit. Changes by the service, such as a new status or
      score, keep it, so objects don't support \`If-None-Match\`. The OpenAPI document, this reference and reports
      do.`,
    ],
  ],
  'rate-limits': [
    'Rate limits',
    ({ rate }) => [
      `${
        rate
          ? `Each API key can send ${rate.requests.toLocaleString('en')} requests in ${rate.seconds} seconds.`
          : 'This service has no general rate limit. Some operations, such as signing in, have their own.'
      } \`RateLimit-Policy\` shows the limits that apply, and \`RateLimit\` shows the remaining
      requests. Requests over a limit return 429. Wait for the number of seconds in \`Retry-After\`
      before you retry.`,
    ],
  ],
  'test-mode': [
    'Test mode',
    () => [
      `Keys that start with \`dlv_test_\` work in test mode. Tests created with them have
      \`"livemode": false\`. They are analyzed like other tests, but don't count in summaries and
      trigger no alerts.`,
      `Tests, their events and summaries, shared links and webhook endpoints have a mode. A key reads and
      changes only those of its own mode, as its role allows. Everything else has no test mode: the team,
      domains, monitors, alert rules and report schedules. Test-mode keys can read it. If they try to change
      it, they get 403 with the code \`live_mode_required\`.`,
    ],
  ],
};

const PROBLEM = `{
  "object": "error",
  "type": "/errors/validation_failed",
  "title": "Invalid parameters",
  "status": 422,
  "detail": "…",
  "code": "validation_failed",
  "request_id": "req_…",
  "errors": [
    { "param": "limit", "code": "…", "message": "…" }
  ]
}`;

const errorEntry = ([code, { meaning }]: [string, ErrorType]): [number, string] => [
  ERROR_STATUS[code as ErrorCode],
  `\`${code}\` ${meaning}`,
];

/** Response statuses and their meaning. */
export const Statuses = ({ entries }: { entries: [status: string | number, text: string][] }) => (
  <dl class="statuses">
    {entries.map(([status, text]) => (
      <div key={text}>
        <dt>{status}</dt>
        <dd>
          <WithCode text={text} />
        </dd>
      </div>
    ))}
  </dl>
);

export const Command = ({ text, label }: { text: string; label: string }) => (
  <div class="box command">
    <Copyable text={text} label={label} />
  </div>
);

export const Paragraph = ({ text, ...rest }: { text: string; class?: string }) => (
  <p {...rest}>
    <WithCode text={text} />
  </p>
);

/** Text with code in backticks. */
export const WithCode = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part))}</>
);
