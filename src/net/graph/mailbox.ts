/** Reads one mailbox through Microsoft Graph, within limits of size and time. It only sends GET requests. */

import * as v from 'valibot';
import { AccountError, quoted } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { overloadError, requestError } from '../oauth/token-endpoint.ts';

/** Graph’s own names, which are the same in all languages. */
export type GraphFolder = 'junkemail' | 'inbox';

export interface ListedMessage {
  /** Stays the same when the message is moved. */
  id: string;
  receivedAt: number;
  /** Where Outlook shows it within the inbox; null if it doesn’t say. */
  inference: 'focused' | 'other' | null;
}

export interface GraphListing {
  /** From the newest. */
  messages: ListedMessage[];
  /** Whether there were more than are listed. */
  isTruncated: boolean;
}

export interface GraphMessage {
  headers: { name: string; value: string }[];
  from: string | null;
  subject: string | null;
  /** Null if it is too long to be read. */
  body: { isHtml: boolean; content: string } | null;
}

export interface GraphMailbox {
  /** The messages that a folder received at or after a time. */
  list(folder: GraphFolder, since: number): Promise<GraphListing>;
  /** The addresses of the account; null if the permissions don’t tell. */
  ownAddresses(): Promise<string[] | null>;
  /** Null if it was deleted. */
  read(id: string): Promise<GraphMessage | null>;
}

export interface GraphAccess {
  web: WebClient;
  /** Without a slash at the end. */
  baseUrl: string;
  accessToken: string;
  /** Ends requests early. */
  signal: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 20_000;
const PAGE_SIZE = 200;
const MAX_PAGE_BYTES = 512 * 1024;
/** In one folder, as many as are considered on an IMAP server. */
const MAX_LISTED = 5000;
const MAX_PAGES = 2 * (MAX_LISTED / PAGE_SIZE);
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const Text = v.nullish(v.string());
const Listing = v.object({
  value: v.array(
    v.object({
      id: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
      receivedDateTime: v.string(),
      inferenceClassification: Text,
    }),
  ),
  '@odata.nextLink': Text,
});
const Address = v.nullish(v.object({ emailAddress: v.nullish(v.object({ address: Text })) }));
const Message = v.object({
  internetMessageId: Text,
  subject: Text,
  from: Address,
  toRecipients: v.nullish(v.array(Address)),
  ccRecipients: v.nullish(v.array(Address)),
  internetMessageHeaders: v.nullish(v.array(v.object({ name: v.string(), value: Text }))),
  body: v.nullish(v.object({ contentType: Text, content: Text })),
});

const Account = v.object({
  mail: Text,
  userPrincipalName: Text,
  proxyAddresses: v.nullish(v.array(Text)),
});

const LISTED_FIELDS = 'id,receivedDateTime,inferenceClassification';
const MESSAGE_FIELDS =
  'internetMessageId,subject,from,toRecipients,ccRecipients,internetMessageHeaders';

/** Its operations reject with a AccountError; with `sign_in_failed` if the access token is not accepted. */
export function openGraphMailbox({ web, baseUrl, accessToken, signal }: GraphAccess): GraphMailbox {
  const { host } = new URL(baseUrl);

  /** The parsed response; null for 404 and the given statuses, and `too_large` if it is. */
  async function get(url: string, maxBytes: number, absent: number[] = []): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${accessToken}`,
      accept: 'application/json',
      'user-agent': 'deliverability',
      prefer: 'IdType="ImmutableId"',
    };
    const timeoutMs = REQUEST_TIMEOUT_MS;
    const result = await web({ method: 'GET', url, headers, timeoutMs, maxBytes, signal });
    if (result.status === 'failed') {
      if (result.reason === 'too_large') return TOO_LARGE;
      throw requestError(result, host);
    }
    const { code } = result;
    const isMissing = code === 404 && !NO_MAILBOX.test(faultOf(result.body, host));
    if (isMissing || absent.includes(code)) return null;
    if (code !== 200) throw statusError(host, result);
    return parsed(result.body, host);
  }

  /** Null if the permission User.Read is missing, or if the account has no such property. */
  async function account(fields: string): Promise<v.InferOutput<typeof Account> | null> {
    const response = await get(`${baseUrl}/me?$select=${fields}`, MAX_PAGE_BYTES, [400, 403]);
    if (response === null) return null;
    const parsedAccount = v.safeParse(Account, response);
    if (!parsedAccount.success) throw invalid(host);
    return parsedAccount.output;
  }

  return {
    async ownAddresses() {
      const found =
        (await account('mail,userPrincipalName,proxyAddresses')) ??
        // Personal accounts have no other addresses.
        (await account('mail,userPrincipalName'));
      const { mail, userPrincipalName, proxyAddresses } = found ?? {};
      const addresses = [mail, userPrincipalName, ...(proxyAddresses ?? [])].flatMap(addressIn);
      return addresses.length === 0 ? null : [...new Set(addresses)];
    },
    async list(folder, since) {
      const query = [
        `$select=${LISTED_FIELDS}`,
        `$filter=receivedDateTime ge ${new Date(since).toISOString()}`,
        '$orderby=receivedDateTime desc',
        `$top=${PAGE_SIZE}`,
      ];
      let url = `${baseUrl}/me/mailFolders/${folder}/messages?${query.map(encodeURI).join('&')}`;
      const messages: ListedMessage[] = [];
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const response = await get(url, MAX_PAGE_BYTES);
        if (response === null)
          throw new AccountError('refused', `${host} has no ${folder} folder.`);
        const page = v.safeParse(Listing, response);
        if (!page.success || page.output.value.length > MAX_LISTED) throw invalid(host);
        messages.push(...page.output.value.map(listedMessage));
        if (messages.length > MAX_LISTED)
          return { messages: messages.slice(0, MAX_LISTED), isTruncated: true };
        const next = page.output['@odata.nextLink'];
        if (!next) return { messages, isTruncated: false };
        if (!isBelow(next, baseUrl)) throw invalid(host);
        url = next;
      }
      return { messages, isTruncated: true };
    },
    async read(id) {
      const url = `${baseUrl}/me/messages/${encodeURIComponent(id)}?$select=${MESSAGE_FIELDS}`;
      let response = await get(`${url},body`, MAX_MESSAGE_BYTES);
      if (response === TOO_LARGE) response = await get(url, MAX_MESSAGE_BYTES);
      if (response === null) return null;
      const message = v.safeParse(Message, response);
      if (!message.success) throw invalid(host);
      return messageOf(message.output);
    },
  };
}

/** Without the prefix of a proxy address, such as `SMTP:`, or of a personal account. */
function addressIn(text: string | null | undefined): string[] {
  const address = /^(?:smtp:|live\.com#)?([^\s@:<>#]{1,64}@[\w.-]{1,255})$/i.exec(text ?? '')?.[1];
  return address === undefined ? [] : [address.toLowerCase()];
}

const TOO_LARGE = Symbol('too large');

/** The access token is sent to no other server, whatever a response says. */
function isBelow(text: string, baseUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const [url, base] = [new URL(text), new URL(baseUrl)];
  return url.origin === base.origin && url.pathname.startsWith(`${base.pathname}/`);
}

const invalid = (host: string): AccountError =>
  new AccountError('bad_response', `${host} sent an invalid Microsoft Graph response.`);

function parsed(body: Uint8Array, host: string): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw invalid(host);
  }
}

const GraphFault = v.object({ error: v.object({ code: Text, message: Text }) });

/** Of accounts without a license, and with a mailbox on a server of their own. */
const NO_MAILBOX = /^(?:MailboxNot(?:EnabledFor|SupportedFor)RESTAPI|ErrorNonExistentMailbox)$/;

/** The code of an error; empty for anything else. */
function faultOf(body: Uint8Array, host: string): string {
  try {
    const fault = v.safeParse(GraphFault, parsed(body, host));
    return (fault.success && fault.output.error.code) || '';
  } catch {
    return '';
  }
}

function statusError(
  host: string,
  response: { code: number; headers: Record<string, string>; body: Uint8Array },
): AccountError {
  const { code, body } = response;
  if (code === 429 || code >= 500) return overloadError(host, response);
  if (code === 401)
    return new AccountError(
      'sign_in_failed',
      `${host} rejects the access token. Sign in again, and check the settings of the app.`,
    );
  if (code < 400) return invalid(host);
  const fault = faultOf(body, host);
  const reason = quoted(fault);
  if (NO_MAILBOX.test(fault))
    return new AccountError(
      'refused',
      `The account has no mailbox at ${host}. Choose one with a mailbox in the cloud.${reason}`,
    );
  return code === 403
    ? new AccountError(
        'refused',
        `${host} denies access to the mailbox. Give the app the delegated permission Mail.Read, and sign in again.${reason}`,
      )
    : new AccountError('refused', `${host} rejected the request with HTTP ${code}.${reason}`);
}

function listedMessage({
  id,
  receivedDateTime,
  inferenceClassification: inference,
}: v.InferOutput<typeof Listing>['value'][number]): ListedMessage {
  const time = Date.parse(receivedDateTime);
  return {
    id,
    receivedAt: Number.isNaN(time) ? 0 : time,
    inference: inference === 'focused' || inference === 'other' ? inference : null,
  };
}

function messageOf(message: v.InferOutput<typeof Message>): GraphMessage {
  const { internetMessageHeaders, internetMessageId, subject, from, body } = message;
  const headers = (internetMessageHeaders ?? []).map(({ name, value }) => ({
    name,
    value: value ?? '',
  }));
  // Messages within an organization can lack them.
  const add = (name: string, value: string | null | undefined) => {
    if (value && !headers.some((field) => field.name.toLowerCase() === name.toLowerCase()))
      headers.push({ name, value });
  };
  add('Message-ID', internetMessageId);
  add('To', addresses(message.toRecipients));
  add('Cc', addresses(message.ccRecipients));
  return {
    headers,
    from: from?.emailAddress?.address ?? null,
    subject: subject ?? null,
    body: body?.content
      ? { isHtml: body.contentType?.toLowerCase() === 'html', content: body.content }
      : null,
  };
}

const addresses = (list: v.InferOutput<typeof Message>['toRecipients']): string =>
  (list ?? []).map((each) => each?.emailAddress?.address ?? '').join(', ');
