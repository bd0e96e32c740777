/** Settings that several kinds of name servers have. Fields of the same name have the same rules. */

import * as v from 'valibot';
import type { ServerField } from '../server.ts';

const TOKEN = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.regex(/^[\x21-\x7e]{8,400}$/, 'must be a token or key, 8 to 400 characters without spaces'),
);

const BASE_URL = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.regex(
    /^https?:\/\/[\w.:[\]-]+(?:\/[\w./-]*)?$/,
    'must be a URL without a user name and a query, as in https://ns1.example.com:8081',
  ),
  v.check((text) => URL.canParse(text), 'must be a URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
);

const REQUIRED = { kind: 'text', isRequired: true } as const;

export const tokenField = (hint: string, name = 'api_token', label = 'API token'): ServerField => ({
  ...REQUIRED,
  name,
  label,
  isSecret: true,
  hint: `${hint} It is not shown again.`,
  documentation: `${hint} Responses never include it.`,
  example: 'token-0123456789abcdefghijklmnopqrstuvwxyz',
  schema: TOKEN,
});

export const urlField = (hint: string, placeholder: string): ServerField => ({
  ...REQUIRED,
  name: 'url',
  label: 'URL',
  isSecret: false,
  hint: `${hint} Without https, it must be in a network that your administrator allows.`,
  placeholder,
  documentation: hint,
  example: 'https://ns1.example.com:8081',
  schema: BASE_URL,
});
