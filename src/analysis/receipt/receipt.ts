/**
 * Finds out from a saved message who received it last, from where and when. Everything below the
 * field of the receiver can be forged, so whatever is in doubt is unknown.
 */

import { inNetworks, isLocalAddress, normalizeAddress } from '../../lib/addresses.ts';
import { MAX_ADDRESS_LENGTH, stripAngleBrackets } from '../../lib/mail.ts';
import type { Envelope } from '../check.ts';
import { fullHostName, isSameDomain } from '../dns/names.ts';
import type { HeaderField } from '../mime/message.ts';
import { type Hop, parseReceived } from '../mime/received.ts';
import { type RecordedClient, readRecordedClient } from '../mime/received-client.ts';
import { suffixIndex } from '../sending-services/service.ts';
import { GATEWAYS } from '../sending-services/services.ts';
import { addedFields, isServer, type Server } from './added-fields.ts';
import type { ReceiptValue } from './file-receipt.ts';
import { RECEIVERS, type Receiver } from './receivers.ts';
import { authservId, type ReceiverResults, readResults, recordedMailFrom } from './results.ts';

/** The header field that a value was read from, and the server that wrote it. */
export interface Origin {
  field: string;
  by: string;
}

/** Who received the message last, as its header says. null means "not known". */
export interface Receipt extends Pick<Envelope, 'client_ip' | 'helo' | 'tls' | 'mail_from'> {
  /** The server that received it. */
  by: string;
  /** The name of the mailbox provider; null for any other server. */
  provider: string | null;
  /** Milliseconds since the Unix epoch. */
  at: number | null;
  /** Where each known value was read. */
  origins: Partial<Record<ReceiptValue | 'results', Origin>>;
  /** What the receiver recorded about authentication; null if it recorded nothing. */
  results: ReceiverResults | null;
  /** The indexes of the header fields that the receiver added. They are not the sender's. */
  addedFields: number[];
}

/** A Received field with its place in the header. */
interface Step {
  index: number;
  hop: Hop;
  /** null if the field names no client in a known form. */
  client: RecordedClient | null;
  isSubmission: boolean;
  /** Behind the last `with`: the words before it may be a HELO name. */
  protocol: string;
  /** The addresses that the field names before its date, if it names no client in a known form. */
  addresses: string[];
}

const MAX_STEPS = 30;

/** null if nobody received the message, as in a folder of sent mail, or if the header does not show it. */
export function readReceipt(headers: HeaderField[]): Receipt | null {
  const steps = headers
    .flatMap(({ key, value }, index) => (key === 'received' ? [{ value, index }] : []))
    .slice(0, MAX_STEPS)
    .map(({ value, index }) => stepOf(value, index));
  const found = findReceiving(steps);
  if (!found) return null;
  const { step, receiver, by, at } = found;
  if (!step.client || isLocalAddress(step.client.address))
    return withoutClient(by, at, mailFromIn(headers.slice(0, step.index), [], []));
  const server = { by, receiver };
  const received = step.index;
  const added = addedFields(headers, received, server);
  // Below the Received field, a stranger can have written it.
  const isSure = (index: number) =>
    index < received || receiver?.hasResultsBelow || headers[index]!.key !== 'received-spf';
  const own = added.filter(isSure).map((index) => headers[index]!);
  const results = resultFields(headers, { added, received, server });
  const { address: client_ip, helo } = step.client;
  const tls = tlsOf(step, receiver);
  const sender = mailFromIn(own, results, step.hop.comments);
  const field = { field: 'Received', by };
  const seen = results.length > 0 ? readResults(results.map(({ value }) => value)) : null;
  const older = steps.slice(steps.indexOf(step) + 1);
  const ofResults = results[0] && {
    results: { field: results[0].name, by: authservId(results[0].value) || by },
  };
  const isSender = seen?.spf === 'pass' && !judgesOther(results, client_ip);
  if (!isSender && isBehindGateway(step.client, older)) {
    const rest = withoutClient(by, at, sender);
    return {
      ...rest,
      provider: receiver?.name ?? null,
      addedFields: added,
      ...(seen?.dkim && {
        results: { dkim: seen.dkim },
        origins: { ...rest.origins, ...ofResults },
      }),
    };
  }
  return {
    by,
    provider: receiver?.name ?? null,
    at,
    client_ip,
    helo,
    tls,
    mail_from: sender?.value ?? null,
    results: seen,
    addedFields: added,
    origins: {
      ...(at !== null && { at: field }),
      client_ip: field,
      ...(helo !== null && { helo: field }),
      ...(tls !== null && { tls: field }),
      ...(sender && { mail_from: { field: sender.field, by } }),
      ...ofResults,
    },
  };
}

/** The time alone shows delays. Whether the fields around it are the receiver's is in doubt. */
const withoutClient = (by: string, at: number | null, sender: Sender | null): Receipt => ({
  by,
  provider: null,
  at,
  client_ip: null,
  helo: null,
  tls: null,
  mail_from: sender?.value ?? null,
  results: null,
  addedFields: [],
  origins: {
    ...(at !== null && { at: { field: 'Received', by } }),
    ...(sender && { mail_from: { field: sender.field, by } }),
  },
});

const gatewaysNamed = suffixIndex(GATEWAYS.map((gateway) => [gateway, gateway.marks.hosts]));

/**
 * Whether a gateway took the message from another server. It may be the recipient's, and then its address says
 * nothing about the sender. Only a receiver that saw SPF pass for it shows that it is the sender's.
 */
function isBehindGateway({ name, helo }: RecordedClient, older: Step[]): boolean {
  const isGateway = (text: string | null) =>
    gatewaysNamed(fullHostName(text ?? '') ?? '').length > 0;
  const outer = older.find(({ client }) => client !== null && !isLocalAddress(client.address));
  return (
    isGateway(name ?? helo) &&
    outer !== undefined &&
    isGateway(outer.hop.by) &&
    !isGateway(outer.client!.name ?? outer.client!.helo)
  );
}

/** Microsoft 365 names the address that it judged. With filtering for connectors, that is the one before the gateway. */
const judgesOther = (results: HeaderField[], client: string): boolean =>
  results.some(({ value }) => {
    const [, judged] = /\(sender IP is ([\da-f.:]{3,45})\)/i.exec(value) ?? [];
    return judged !== undefined && normalizeAddress(judged) !== client;
  });

function stepOf(value: string, index: number): Step {
  const hop = parseReceived(value);
  const { protocol, comments } = hop;
  const isSubmission =
    /^(?:utf8)?e?smtps?a$/i.test(protocol ?? '') || comments.some((text) => SIGNED_IN.test(text));
  const client = readRecordedClient(value);
  const text = value.slice(0, MAX_FIELD);
  return {
    index,
    hop,
    client,
    isSubmission,
    protocol: LAST_WITH.exec(text)?.[1] ?? '',
    addresses: client ? [] : addressesIn(hop.from, text),
  };
}

const MAX_FIELD = 4000;
const LAST_WITH = /.*\swith\s+(\S+)/is;

/** As servers write the address of a client: `[192.0.2.1]`, `(192.0.2.1)`, or in place of its name. */
function addressesIn(from: string | null, text: string): string[] {
  const written = text.matchAll(/[[(](?:\S{0,64}@)?((?:IPv6:)?[\da-f:.]{2,45})(?=[\])])/gi);
  return [from ?? '', ...Array.from(written, ([, address]) => address!)].flatMap(
    (address) => normalizeAddress(address.replace(/^IPv6:/i, '')) ?? [],
  );
}

/** How servers record that the client signed in. */
const SIGNED_IN = /^(?:authenticated\b|auth(?:entication)?[:=]|smtp-auth\b)/i;

/** A program, or another provider, fetched the message from the mailbox. */
const RETRIEVAL = /^(?:pop3|imap)/i;

interface Receiving {
  step: Step;
  receiver: Receiver | null;
  by: string;
  /** The stamp of the newest field of the receiver. */
  at: number | null;
}

/**
 * The newest hop from outside. Above it are only hops within the receiver: its field is the last one that a stranger did
 * not write.
 */
function findReceiving(steps: Step[]): Receiving | null {
  let receiver: Receiver | null = null;
  const passed: Step[] = [];
  for (const step of steps) {
    if (step.isSubmission) return null;
    if (RETRIEVAL.test(step.protocol)) {
      receiver = null;
      passed.length = 0;
      continue;
    }
    const previous = passed.at(-1);
    receiver ??= receiverOf(step.hop.by);
    // A hop of other servers: the way between them is unknown.
    if (previous && receiver === null && !follows(previous, step)) break;
    if (
      receiver &&
      !isOf(receiver, step) &&
      step.hop.by?.includes('.') &&
      fullHostName(step.hop.by)
    )
      return null;
    if (!isInternal(step, receiver, steps[steps.indexOf(step) + 1]))
      return step.client
        ? {
            step,
            receiver,
            by: nameOf([step, ...passed], receiver),
            at: passed[0]?.hop.time ?? step.hop.time,
          }
        : null;
    passed.push(step);
  }
  const first = passed[0];
  // A provider that got the message from itself, or a program on the server, is the sender too.
  if (!first?.hop.by || first.hop.from === null || receiver) return null;
  return { step: first, receiver: null, by: first.hop.by, at: first.hop.time };
}

const receiverOf = (by: string | null): Receiver | null =>
  RECEIVERS.find(({ servers }) => servers.test(by?.toLowerCase() ?? '')) ?? null;

const isOf = ({ servers }: Receiver, { hop }: Step): boolean =>
  servers.test(hop.by?.toLowerCase() ?? '');

/** Whether the server of the older hop passed the message to that of the newer one. */
function follows(newer: Step, older: Step): boolean {
  const [to, from, by] = [newer.hop.by, newer.hop.from, older.hop.by].map((text) =>
    text?.toLowerCase(),
  );
  // Names without a domain are those of machines on the same network.
  if (!by || !to || by === from || by === to || fullHostName(by) === null) return true;
  return isSameDomain(by, to) || isSameDomain(by, from);
}

/** Whether the hop is within the receiver: without a client, from a private address, or between its own servers. */
function isInternal(
  { hop, client, protocol, addresses }: Step,
  receiver: Receiver | null,
  next: Step | undefined,
): boolean {
  // Deliveries to the mailbox on the same machine.
  if (!client && /^lmtp/i.test(protocol)) return true;
  // A client chooses its HELO name, so one that makes the field unreadable must not hide the client.
  const isInside = (address: string) =>
    isLocalAddress(address) || (receiver && inNetworks(address, receiver.internal));
  if (!addresses.every(isInside)) return false;
  if (hop.from === null) return true;
  if (!client)
    return (
      fullHostName(hop.from) === null || receiver?.servers.test(hop.from.toLowerCase()) === true
    );
  if (isLocalAddress(client.address)) return true;
  if (receiver)
    return inNetworks(client.address, receiver.internal) && !/(?:^|\.)outbound\./i.test(hop.from);
  // The gateway of the organization, which it names itself and took the message from elsewhere.
  return (
    isSameDomain(client.name, hop.by) &&
    next !== undefined &&
    !next.isSubmission &&
    isSameDomain(next.hop.by, client.name) &&
    next.client !== null &&
    !isLocalAddress(next.client.address)
  );
}

/** The name of the receiving server. Some servers give their private address instead. */
function nameOf(steps: Step[], receiver: Receiver | null): string {
  const names = steps.flatMap(({ hop }) => hop.by ?? []);
  const named = names.find((name) => fullHostName(name) !== null);
  return named ?? names.find((name) => !name.includes(':')) ?? receiver?.name ?? 'a server';
}

function tlsOf({ client, hop }: Step, receiver: Receiver | null): Envelope['tls'] {
  if (client?.tls) return client.tls;
  const isPlain = receiver?.offersTls && /^(?:utf8)?e?smtp$/i.test(hop.protocol ?? '');
  return isPlain ? { used: false, version: null, cipher: null } : null;
}

interface Added {
  added: number[];
  received: number;
  server: Server;
}

/** The Authentication-Results fields of the receiver. */
function resultFields(headers: HeaderField[], { added, received, server }: Added): HeaderField[] {
  const seen = new Set<string>();
  return added.flatMap((index) => {
    const field = headers[index]!;
    const id = authservId(field.value);
    if (field.key !== 'authentication-results' || !isServer(id, server)) return [];
    // Below its Received field, a stranger can have written it, unless the receiver's own is above that.
    const isSure = index < received || (server.receiver?.hasResultsBelow === true && !seen.has(id));
    seen.add(id);
    return isSure ? [field] : [];
  });
}

interface Sender {
  value: string;
  field: string;
}

/** The envelope sender as the receiver recorded it. */
function mailFromIn(own: HeaderField[], results: HeaderField[], comments: string[]): Sender | null {
  const fieldNamed = (name: string) => own.find(({ key }) => key === name);
  const returnPath = fieldNamed('return-path');
  const spf = fieldNamed('received-spf');
  const candidates: [text: string | null | undefined, field: string][] = [
    [returnPath?.value, 'Return-Path'],
    [/\benvelope-from=["']?(<?[^\s;"'>]*>?)/i.exec(spf?.value ?? '')?.[1], 'Received-SPF'],
    [
      comments.map((text) => /^envelope-from (<[^\s<>]*>)$/i.exec(text)?.[1]).find(Boolean),
      'Received',
    ],
    [results[0] && recordedMailFrom(results[0].value), 'Authentication-Results'],
  ];
  for (const [text, field] of candidates) {
    const value = text == null ? null : stripAngleBrackets(text);
    if (value === '' ? /^\s*<>/.test(text!) : value?.includes('@'))
      if (value!.length <= MAX_ADDRESS_LENGTH) return { value: value!, field };
  }
  return null;
}
