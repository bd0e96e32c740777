/** Settings that several kinds of name servers have. */

import * as v from 'valibot';
import type { ServerField } from '../server.ts';

const TOKEN = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.regex(/^[\x21-\x7e]{8,400}$/, 'must be a token or key, 8 to 400 characters without spaces'),
);

const URL_RULE =
  'must be a URL as in https://ns1.example.com:8081, without a user name, a query or a fragment';

const BASE_URL = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.maxLength(500, 'must have at most 500 characters'),
  v.check((text) => URL.canParse(text) && isBaseUrl(new URL(text)), URL_RULE),
  v.transform((text) => text.replace(/\/+$/, '')),
);

const isBaseUrl = ({ protocol, username, password, search, hash }: URL): boolean =>
  /^https?:$/.test(protocol) && username + password + search + hash === '';

type Words = Pick<ServerField, 'label' | 'hint' | 'documentation' | 'example'> & {
  placeholder?: string;
};

const REQUIRED = { kind: 'text', isRequired: true } as const;

/** Kinds can have fields of the same name, and a server has those of its kind. */
export const tokenField = (words: Words, name = 'api_token'): ServerField => ({
  ...REQUIRED,
  ...words,
  name,
  isSecret: true,
  hint: `${words.hint} It is not shown again.`,
  documentation: `${words.documentation} Responses never include it.`,
  schema: TOKEN,
});

export const urlField = (words: Words): ServerField => ({
  ...REQUIRED,
  ...words,
  name: 'url',
  isSecret: false,
  hint: `${words.hint} Without https, it must be in a network that your administrator allows.`,
  schema: BASE_URL,
});
