/** Finds the client of a message that came through mail servers of the operator. */

import type { Envelope, ReportingServer } from '../analysis/check.ts';
import { scanHeaders } from '../analysis/mime/headers.ts';
import { fields } from '../analysis/mime/message.ts';
import { readRecordedClient } from '../analysis/mime/received-client.ts';
import { inNetworks, type Network } from '../lib/addresses.ts';

type Client = Omit<Envelope, 'mail_from'>;

/** More than any chain of servers of one operator. */
const MAX_HOPS = 10;
/** In bytes. The fields of the trusted servers are at the top. */
const MAX_HEADER_BYTES = 256 * 1024;

/**
 * The client that handed the message to the first of the `trustedHops`. Each of them added its Received field at the
 * top, so the field is believed as long as the client of the field above is one of them. All fields below may be
 * forged. If a field can't be read, the client is unknown: the server that passed the message on is not its sender.
 */
export function findTrueClient(client: Client, raw: Buffer, trustedHops: Network[]): Client {
  if (!isHop(client.client_ip, trustedHops)) return client;
  const header = fields({ headers: headerOf(raw) }, 'received');
  let current = client;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    if (!isHop(current.client_ip, trustedHops)) return current;
    const recorded = readRecordedClient(header[hop]?.value ?? '');
    const server = { client_ip: current.client_ip, name: recorded?.by ?? null };
    if (!recorded) return unknownClient({ ...server, method: null });
    const { address, helo, tls } = recorded;
    current = { client_ip: address, helo, tls, reported_by: { ...server, method: 'received' } };
  }
  return unknownClient({ client_ip: current.client_ip!, name: null, method: null });
}

export const unknownClient = (reported_by: ReportingServer): Client => ({
  client_ip: null,
  helo: null,
  tls: null,
  reported_by,
});

const isHop = (address: string | null, hops: Network[]): address is string =>
  address !== null && inNetworks(address, hops);

const headerOf = (raw: Buffer) => scanHeaders(raw.subarray(0, MAX_HEADER_BYTES)).headers;
