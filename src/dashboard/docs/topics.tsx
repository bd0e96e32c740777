/** What all operations of the API share: credentials, errors, lists, retries, conditions, limits, test mode. */

import type { JSX } from 'preact';
import type { Rate } from '../../config/readers.ts';
import { ERROR_STATUS, type ErrorCode } from '../../lib/errors.ts';
import { Copyable } from '../../report/html/components.tsx';

export interface Setting {
  baseUrl: string;
  version: string;
  /** Null where nothing is limited. */
  rate: Rate | null;
}

/** By anchor, in the order of the page; a string is a paragraph with `code` in backticks. */
export const TOPICS: Record<
  string,
  [title: string, blocks: (setting: Setting) => (string | JSX.Element)[]]
> = {
  authentication: [
    'Authentication',
    ({ baseUrl }) => [
      `Send an API key with every request: \`Authorization: Bearer\` and the key. A key begins with
      \`dlv_live_\` or \`dlv_test_\`, is shown once when it is made, and can be revoked at any time.
      What it may do is the lower of its own role and the present role of its member.`,
      `The commands on this page read the key from the variable \`API_KEY\` of your shell, and ids in
      paths from variables such as \`TEST_ID\`. Read the key once, so that it is neither shown nor
      kept in the history, and see who you are:`,
      <Command text="read -rs API_KEY" label="the command that reads the key" />,
      <Command
        text={`curl "${baseUrl}/v1/me" \\\n  -H "Authorization: Bearer $API_KEY"`}
        label="the command that shows who you are"
      />,
      `Roles, from the least to the most: \`viewer\` reads tests and reports, \`member\` creates them
      too, \`admin\` manages the team as well, and the one \`owner\` may do everything. Each operation
      says who may.`,
    ],
  ],
  requests: [
    'Requests and answers',
    ({ baseUrl }) => [
      `The address of the API is \`${baseUrl}\`. Bodies are JSON in UTF-8, sent with
      \`Content-Type: application/json\`, at most 1 MiB; a few operations take or answer a message, a
      page, a PDF or CSV, and say so.`,
      `Times are written in UTC with milliseconds, as in \`2026-11-21T10:00:00.000Z\`. Every object
      has a field \`object\` that names its kind, and an \`id\` that begins with it: \`test_\`,
      \`mem_\`, \`inv_\`, \`key_\`. To sort by id is to sort by creation.`,
      `A read, a change or an action answers 200, and what creates 201 with \`Location\`. A PATCH
      changes only the fields that it has; \`null\` clears one that may be empty. A DELETE answers
      \`id\`, \`object\` and \`"deleted": true\`.`,
      `Every answer has an \`X-Request-Id\`. The log of the service has it too, so that one request
      can be found there.`,
    ],
  ],
  errors: [
    'Errors',
    () => [
      `An error is a problem document (RFC 9457) of type \`application/problem+json\`. Decide by
      \`code\`, which stays the same; \`detail\` is for people. Where values are wrong, \`errors\` names
      every one of them at once; a field that an operation does not know is one of them.`,
      <pre class="box">{PROBLEM}</pre>,
      <Statuses entries={Object.entries(ERRORS).map(errorEntry)} />,
    ],
  ],
  pagination: [
    'Lists',
    ({ baseUrl }) => [
      `A list answers \`data\`, newest first, and \`has_more\`. \`limit\` is 1 to 100, and 20 unless
      you say otherwise. For the next page give the last \`id\` as \`starting_after\`; for the page
      before, the first one as \`ending_before\`. Pages stay right while objects are added.`,
      <Command
        text={`curl "${baseUrl}/v1/tests?limit=50&starting_after=$TEST_ID" \\\n  -H "Authorization: Bearer $API_KEY"`}
        label="the command for the next page of tests"
      />,
    ],
  ],
  idempotency: [
    'Safe retries',
    () => [
      `Where an operation takes an \`Idempotency-Key\`, send one of your own making with a POST, 1 to
      255 characters, and repeat it when you try again. For 24 hours the same request with the same
      key has one effect and one answer; a repeated answer has \`Idempotent-Replayed: true\`. Another
      body with the same key is refused with 422, one that is still running with 409.`,
    ],
  ],
  conditions: [
    'ETag and If-Match',
    () => [
      `Objects that can be changed answer with an \`ETag\`. Send it back as \`If-Match\` with a PATCH
      or DELETE, and nothing happens if somebody else was faster: the answer is then 412. Sent as
      \`If-None-Match\` with a GET, it saves the body where nothing has changed: 304.`,
    ],
  ],
  'rate-limits': [
    'Rate limits',
    ({ rate }) => [
      `${
        rate
          ? `This service allows each key ${rate.requests.toLocaleString('en')} requests in ${rate.seconds} seconds.`
          : 'This service sets no general limit; some operations, such as signing in, have one of their own.'
      } Where a limit applies, \`RateLimit-Policy\` names it and \`RateLimit\` says what is left.
      Beyond it the answer is 429, and \`Retry-After\` says how many seconds to wait.`,
    ],
  ],
  'test-mode': [
    'Test mode',
    () => [
      `A key that begins with \`dlv_test_\` works in a sandbox: what it creates has
      \`"livemode": false\` and is analysed in the same way, but counts in no summary and raises no
      alert. A key sees the tests of its own mode only, and changes nothing of the team, its members,
      domains, monitors and alert rules.`,
    ],
  ],
};

const ERRORS: Record<ErrorCode, string> = {
  malformed_json: 'The body is not JSON.',
  malformed_request: 'The request cannot be read.',
  unauthenticated: 'The request has no credentials, or they have expired or been revoked.',
  forbidden: 'The role is too low; `detail` names the one needed.',
  not_found: 'There is no such path or object.',
  method_not_allowed: 'The path has other methods; `Allow` names them.',
  conflict: 'What is there does not allow it; `detail` says why.',
  idempotency_in_progress: 'The first request with this key is still running.',
  gone: 'The link or invitation is used, replaced by a newer one, revoked or expired.',
  precondition_failed: 'The object has changed since you read it.',
  body_too_large: 'The body is too large.',
  unsupported_media_type: 'The type of the body is not one that the operation takes.',
  validation_failed: 'Some values are wrong; `errors` names them all.',
  idempotency_mismatch: 'The key was used for another request.',
  rate_limited: 'Too many requests; `Retry-After` says when to ask again.',
  internal_error: 'A fault of the service; its log has more under the `request_id`.',
  unavailable: 'Not possible at the moment. Try again later.',
};

const PROBLEM = `{
  "object": "error",
  "type": "/errors/validation_failed",
  "title": "Some values are wrong",
  "status": 422,
  "detail": "…",
  "code": "validation_failed",
  "request_id": "req_…",
  "errors": [
    { "param": "limit", "code": "…", "message": "…" }
  ]
}`;

const errorEntry = ([code, meaning]: [string, string]): [number, string] => [
  ERROR_STATUS[code as ErrorCode],
  `\`${code}\` ${meaning}`,
];

/** Statuses of answers and what they mean. */
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

/** Text in which `backticks` stand around code. */
export const WithCode = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part))}</>
);
