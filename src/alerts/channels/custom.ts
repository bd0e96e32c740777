/** Custom webhook: any service that takes a request over HTTP, with a body of the rule in which placeholders are replaced. */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, PLAIN, wholeText } from './text.ts';

/** How values are written into a body of each type. */
const ESCAPES: Record<string, (text: string) => string> = {
  'application/json': (text) => JSON.stringify(text).slice(1, -1),
  'application/x-www-form-urlencoded': encodeURIComponent,
  'text/plain': (text) => text,
  'application/xml': (text) =>
    text
      .replace(/[\ufffe\uffff]/g, '')
      .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
};
const [JSON_TYPE, FORM_TYPE] = Object.keys(ESCAPES) as [string, string];

const URL_FIELD: ChannelField = {
  name: 'custom_url',
  kind: 'url',
  isSecret: true,
  label: 'Webhook URL',
  hint: 'Its path and query can have placeholders. It is a secret and is not shown again.',
  placeholder: 'https://example.com/notify',
  example: 'https://push.example.com/message',
};
const METHOD: ChannelField = {
  name: 'custom_method',
  kind: 'text',
  isSecret: false,
  label: 'Method',
  hint: 'By default, POST.',
  choices: ['POST', 'PUT', 'PATCH'],
  example: 'POST',
};
const TYPE: ChannelField = {
  name: 'custom_content_type',
  kind: 'text',
  isSecret: false,
  label: 'Content type',
  hint: 'Values are escaped for it. By default, JSON.',
  choices: Object.keys(ESCAPES),
  example: JSON_TYPE,
};

const MAX_MESSAGE = 4000;
const STATUSES = {
  Alert: 'triggered',
  Reminder: 'reminder',
  Resolved: 'resolved',
  Sample: 'sample',
};

/** What each placeholder becomes. */
const VALUES: Record<
  string,
  (notification: Notification, rule: AlertRow, app: ChannelContext) => string
> = {
  title: ({ kind, title }) => clip(`${kind}: ${title}`, 'heading'),
  message: (notification) =>
    wholeText(notification, PLAIN, { max: MAX_MESSAGE, without: ['heading'] }),
  lead: ({ lead }) => clip(lead, 'lead'),
  status: ({ kind }) => STATUSES[kind],
  subject: ({ facts }) => clip(facts[0]?.[1] ?? '', 'value'),
  rule: (_, { name }) => clip(name, 'title'),
  rule_id: (_, { id }) => id,
  incident_id: ({ incident }, { id }) => incident ?? `sample-${id}`,
  notification_id: ({ id = 'sample' }) => id,
  url: ({ link }) => (link === null ? '' : new URL(link.url).href),
  secret: (_, rule, app) => settingOf(app, rule, TOKEN) ?? '',
};
const LISTED = Object.keys(VALUES)
  .map((name) => `{{${name}}}`)
  .join(', ');

const DEFAULT_BODY = `{
  "title": "{{title}}",
  "message": "{{message}}",
  "status": "{{status}}",
  "incident_id": "{{incident_id}}",
  "url": "{{url}}"
}`;

const BODY: ChannelField = {
  name: 'custom_body',
  kind: 'lines',
  isSecret: false,
  label: 'Body',
  hint: `If empty, a JSON object with the most important values. Placeholders: ${LISTED}. In JSON, write them inside quotes. In a form, write one name=value on each line.`,
  placeholder: DEFAULT_BODY,
  example: '{"title": "{{title}}", "message": "{{message}}"}',
};
const SECRET = { isSecret: true, sentTo: URL_FIELD.name } as const;
const HEADERS: ChannelField = {
  ...SECRET,
  name: 'custom_headers',
  kind: 'lines',
  label: 'Request headers',
  hint: 'One on each line, such as Authorization: Bearer abc. They are secret and not shown again.',
  example: 'Authorization: Bearer abc',
};
const TOKEN: ChannelField = {
  ...SECRET,
  name: 'custom_secret',
  kind: 'text',
  label: 'Secret',
  hint: 'What {{secret}} stands for, so that a token in the body stays hidden. It is not shown again.',
  example: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi',
};

export const custom: Channel = {
  name: 'Custom webhook',
  hints: {
    configured: 'Sends a request that you define to a URL.',
    unconfigured: 'Enter the webhook URL below.',
  },
  fields: [URL_FIELD, METHOD, TYPE, BODY, HEADERS, TOKEN],
  check(app, rule) {
    const [url, body, headers] = [URL_FIELD, BODY, HEADERS].map((field) =>
      settingOf(app, rule, field),
    );
    const problems = [
      [URL_FIELD, placeholderProblem(withBraces(url ?? ''))],
      [BODY, bodyProblem(typeOf(app, rule), body)],
      [HEADERS, headersProblem(headers ?? '')],
    ] as const;
    const [field, message] = problems.find(([, problem]) => problem !== null) ?? [];
    return field && message ? { param: field.name, message } : null;
  },
  post: {
    url(app, rule) {
      const isLost = [HEADERS, TOKEN].some((field) => settingOf(app, rule, field) === null);
      return isLost ? null : (settingOf(app, rule, URL_FIELD) ?? null);
    },
    message(notification, app, rule) {
      const type = typeOf(app, rule);
      const read = (name: string) => VALUES[name]?.(notification, rule, app) ?? '';
      return {
        url: fill(withBraces(settingOf(app, rule, URL_FIELD)!), (name) =>
          // Dots alone would lead to another path (RFC 3986 §5.2.4).
          encodeURIComponent(read(name)).replace(/^\.+$/, '…'),
        ),
        method: (settingOf(app, rule, METHOD) ?? 'POST') as 'POST',
        headers: {
          ...Object.fromEntries(linesOf(settingOf(app, rule, HEADERS) ?? '').map(readHeader)),
          'content-type': `${type}; charset=utf-8`,
        },
        body: fillBody(type, settingOf(app, rule, BODY) ?? DEFAULT_BODY, read),
      };
    },
    // It may be a service that opens incidents of its own.
    tracksIncidents: true,
    answers: {
      refusals: {},
      problem: v.pipe(
        v.unknown(),
        v.transform((said) => ({ text: typeof said === 'string' ? said : JSON.stringify(said) })),
      ),
    },
  },
};

// Templates.

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

const typeOf = (app: ChannelContext, rule: AlertRow): string =>
  settingOf(app, rule, TYPE) ?? JSON_TYPE;

const fill = (text: string, read: (name: string) => string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => read(name.trim()));

const fillBody = (type: string, body: string, read: (name: string) => string): string =>
  fill(type === FORM_TYPE ? linesOf(body).join('&') : body, (name) =>
    (ESCAPES[type] ?? encodeURIComponent)(read(name)),
  );

/** The parser of URLs encodes the braces in a path. */
const withBraces = (url: string): string => url.replace(/%7B%7B(.*?)%7D%7D/gi, '{{$1}}');

function placeholderProblem(text: string): string | null {
  const unknown = [...text.matchAll(PLACEHOLDER)].find(
    ([, name]) => !Object.hasOwn(VALUES, name!.trim()),
  );
  return unknown ? `has the unknown placeholder ${unknown[0]}; known ones are ${LISTED}` : null;
}

/** Not a valid value anywhere but inside quotes, where it must be escaped. */
const PROBE = 'a"\\\n';

function bodyProblem(type: string, body?: string | null): string | null {
  if (body == null) return type === JSON_TYPE ? null : `is required for the content type ${type}`;
  const unknown = placeholderProblem(body);
  if (unknown !== null) return unknown;
  const filled = fillBody(type, body, () => PROBE);
  if (type === FORM_TYPE && !/^[!-~]+$/.test(filled))
    return 'must have one name=value on each line, with special characters percent-encoded';
  if (type !== JSON_TYPE) return null;
  try {
    JSON.parse(filled);
    return null;
  } catch {
    return 'is not valid JSON; write placeholders inside quotes, as in "{{title}}"';
  }
}

// Header fields (RFC 9110 §5).

const linesOf = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));

const readHeader = (line: string): [name: string, value: string] => {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
};

const HEADER = /^[\w!#$%&'*+.^`|~-]+:[\t ]*[\t -~]*$/;
/** What the connection, the message or its body decide, or a proxy. */
const RESERVED =
  /^(?:host|content-(?:length|type|encoding)|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept-encoding|proxy-.*)$/;

function headersProblem(text: string): string | null {
  const names = new Set<string>();
  for (const [index, line] of linesOf(text).entries()) {
    const where = `in line ${index + 1}`;
    if (!HEADER.test(line)) return `must have the form “Name: value”, which is missing ${where}`;
    const [name] = readHeader(line);
    if (RESERVED.test(name)) return `must not set ${name}, as ${where}`;
    if (names.has(name)) return `must have each name once; ${name} is repeated ${where}`;
    if (line.includes('{{')) return `must not have placeholders, as ${where}`;
    names.add(name);
  }
  return null;
}
