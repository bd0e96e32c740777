/** Any name server with dynamic updates (RFC 2136) that are signed with a shared key (TSIG, RFC 8945). */

import { isIP } from 'node:net';
import type { Answer } from 'dns-packet';
import { type Clock, formatUtcTime } from '../../lib/clock.ts';
import { recordText } from '../../net/dns/message.ts';
import type { RecordType } from '../../net/dns/resolver.ts';
import { type Exchange, exchange, type Peer } from '../../net/dns-update/exchange.ts';
import {
  addRecord,
  deleteRecord,
  encodeAuthoritativeQuery,
  encodeUpdate,
  nameIsInUse,
  noSetExists,
  recordExists,
  setExists,
  type UpdateEntry,
  updateRecord,
} from '../../net/dns-update/message.ts';
import type { TsigAlgorithm, TsigKey } from '../../net/dns-update/tsig.ts';
import { createConnector } from '../../net/guarded-connection.ts';
import { normalizedValue } from '../presentation.ts';
import {
  changedSince,
  DnsServerError,
  hasSameValues,
  type NameServer,
  type RecordSet,
  type ServerContext,
  type ServerKind,
  WILDCARD_TYPES,
} from '../server.ts';
import { parseServer, RFC2136_FIELDS, splitNames } from './fields.ts';
import { notAsSent, notText, parentOf, setOf } from './zone-server.ts';

export const rfc2136: ServerKind = {
  name: 'Dynamic updates (RFC 2136)',
  hint: 'BIND, Knot DNS, PowerDNS and other name servers that accept updates signed with a TSIG key.',
  fields: RFC2136_FIELDS,
  open: (settings, context) => new Rfc2136Server(settings, context),
};

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };
/** A prerequisite does not hold: YXDOMAIN, YXRRSET and NXRRSET. */
const UNMET = [3, 6, 7, 8];
const NOT_AUTHORITATIVE = 9;
const NOT_IN_ZONE = 10;

class Rfc2136Server implements NameServer {
  readonly #address: string;
  readonly #key: TsigKey;
  /** Those that it may change; empty for all. */
  readonly #zones: string[];
  readonly #clock: Clock;
  readonly #peer: Peer;

  constructor(settings: Record<string, string>, context: ServerContext) {
    this.#address = settings.server!;
    this.#key = {
      name: settings.key_name!,
      algorithm: settings.key_algorithm as TsigAlgorithm,
      secret: Buffer.from(settings.key_secret!, 'base64'),
    };
    this.#zones = splitNames(settings.zones ?? '');
    const { resolver, allowNetworks, dial, clock, signal } = context;
    this.#clock = clock;
    const connect = createConnector({ resolver, allowNetworks, ...(dial && { dial }) });
    this.#peer = { ...parseServer(this.#address)!, connect, key: this.#key, clock, signal };
  }

  async #send(message: Buffer, mayChange: boolean) {
    return this.#trusted(await exchange(this.#peer, message), mayChange);
  }

  /** What the server has itself: null if it is not authoritative for the name. */
  async #query(name: string, type: string) {
    const result = await exchange(this.#peer, encodeAuthoritativeQuery(name, type as RecordType));
    // Knot DNS does not sign its refusal of a zone that it does not hold.
    const isRefused = result.kind === 'untrusted' && result.rcode === RCODES.REFUSED;
    if (isRefused && result.verification.kind === 'unsigned') return null;
    const { rcode, packet } = this.#trusted(result, false);
    if (rcode === RCODES.REFUSED || rcode === NOT_AUTHORITATIVE) return null;
    if (rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN)
      throw new DnsServerError('server_failed', `${this.#address} failed to answer a query.`);
    return packet.flag_aa ? packet : null;
  }

  async #recordsAt(zone: string, name: string, type: string): Promise<Answer[]> {
    const packet = await this.#query(name, type);
    if (packet === null) throw this.#notHeld(zone);
    const answers = packet.answers ?? [];
    const records = answers.filter((answer) => isAt(answer, name, type));
    // All names below a DNAME record are aliases, which have no records of their own (RFC 6672).
    const isInherited = type === 'CNAME' && answers.some((answer) => answer.type === 'DNAME');
    if (records.length === 0 || isInherited) return records;
    // From a wildcard (RFC 4592), the server answers as if the name had its records.
    return (await this.#holds(zone, name, setExists(name, type))) ? records : [];
  }

  /** Whether the prerequisite holds: an update without changes tells. */
  async #holds(zone: string, name: string, prerequisite: UpdateEntry): Promise<boolean> {
    const { rcode } = await this.#send(encodeUpdate(zone, [prerequisite], []), false);
    if (UNMET.includes(rcode)) return false;
    this.#requireDone(rcode, zone, name);
    return true;
  }

  async wildcardTypes(zone: string, name: string): Promise<string[]> {
    if (await this.#holds(zone, name, nameIsInUse(name))) return [];
    const found = await Promise.all(
      WILDCARD_TYPES.map(async (type) => {
        const packet = await this.#query(name, type);
        return packet?.answers?.some((answer) => isAt(answer, name, type)) ? [type] : [];
      }),
    );
    return found.flat();
  }

  async read(zone: string, name: string, type: string): Promise<RecordSet> {
    return setOf(name, type, entriesOf(await this.#recordsAt(zone, name, type)));
  }

  async zoneOf(name: string): Promise<string | null> {
    for (let zone = name; zone !== ''; zone = zone.includes('.') ? parentOf(zone) : '') {
      const packet = await this.#query(zone, 'SOA');
      if (!packet?.answers?.some((answer) => isAt(answer, zone, 'SOA'))) continue;
      return !this.#mayChange(zone) || (await this.#isDelegated(zone, name)) ? null : zone;
    }
    return null;
  }

  #mayChange(zone: string): boolean {
    return this.#zones.length === 0 || this.#zones.includes(zone);
  }

  /** Below a delegation, the server holds the zone above the name, but not the name. */
  async #isDelegated(zone: string, name: string): Promise<boolean> {
    return name !== zone && (await this.#query(name, 'SOA')) === null;
  }

  async replace(zone: string, before: RecordSet, after: RecordSet): Promise<void> {
    const { name, type } = before;
    if (!this.#mayChange(zone))
      throw new DnsServerError(
        'refused',
        `${zone} is not among the zones of this server: ${this.#zones.join(', ')}. Add it to the settings of the server.`,
      );
    const current = await this.#recordsAt(zone, name, type);
    if (!hasSameValues(setOf(name, type, entriesOf(current)), before)) throw changedSince(before);
    const removed = current.filter((record) => !after.values.includes(textOf(record)));
    if (removed.some((record) => !isRestorable(record))) throw notText(name, this.#address);
    const added = after.values.map((value) => encodedRecord(name, type, value, after.ttl));
    const prerequisites = [
      ...(current.length > 0 ? current.map(recordExists) : [noSetExists(name, type)]),
      // A server ignores a record that is added to an alias.
      ...(type === 'CNAME' ? [] : [noSetExists(name, 'CNAME')]),
    ];
    // What stays is added again exactly as it is, so that the whole set has one TTL.
    const kept = current.filter((record) => !removed.includes(record));
    const isNew = (text: string) => !kept.some((record) => textOf(record) === text);
    const changes = [
      ...removed.map(deleteRecord),
      ...[...kept, ...added.filter((record) => isNew(textOf(record)))].map((record) =>
        addRecord(record, after.ttl),
      ),
    ];
    const { rcode } = await this.#send(encodeUpdate(zone, prerequisites, changes), true);
    if (UNMET.includes(rcode)) throw changedSince(before);
    this.#requireDone(rcode, zone, name);
    // The signed response says that the records have changed, even if they cannot be read now.
    const result = await this.read(zone, name, type).catch(() => after);
    if (!hasSameValues(result, after)) throw notAsSent(after, this.#address);
  }

  #requireDone(rcode: number, zone: string, name: string): void {
    if (rcode === RCODES.NOERROR) return;
    if (rcode === RCODES.REFUSED)
      throw new DnsServerError(
        'refused',
        `${this.#address} does not allow the key ${this.#key.name} to change ${name} in ${zone}. Allow it in the update policy of the zone.`,
      );
    if (rcode === NOT_AUTHORITATIVE || rcode === NOT_IN_ZONE) throw this.#notHeld(zone);
    if (rcode === RCODES.NOTIMP)
      throw new DnsServerError('refused', `${this.#address} does not support dynamic updates.`);
    if (rcode === RCODES.FORMERR)
      throw new DnsServerError(
        'invalid_record',
        `${this.#address} rejects the update as malformed.`,
      );
    throw new DnsServerError(
      'server_failed',
      `${this.#address} failed to update ${zone} (response code ${rcode}). Check the log of the server.`,
      { mayHaveChanged: true },
    );
  }

  /** The signed response. Any other proves nothing about an update, not even that it was refused. */
  #trusted(result: Exchange, mayChange: boolean): Extract<Exchange, { kind: 'response' }> {
    if (result.kind === 'response') return result;
    const unknown = { mayHaveChanged: mayChange };
    if (result.kind === 'failed') throw connectionError(this.#address, result, mayChange);
    if (result.kind === 'malformed')
      throw new DnsServerError(
        'bad_response',
        `${this.#address} sent an invalid DNS response.`,
        unknown,
      );
    const { verification, rcode } = result;
    const { kind } = verification;
    if (kind === 'rejected' && verification.error !== 'BADTIME')
      throw new DnsServerError(
        'bad_credentials',
        keyProblem(this.#address, this.#key, verification.error),
        unknown,
      );
    if (kind === 'rejected' || kind === 'wrong_time') {
      const { serverTime } = verification;
      const times =
        serverTime === null
          ? ''
          : ` It is ${formatUtcTime(serverTime)} there, and ${formatUtcTime(this.#clock.now())} here.`;
      throw new DnsServerError(
        'wrong_time',
        `The clocks of ${this.#address} and of this service differ by more than five minutes.${times} Synchronize them with NTP.`,
        kind === 'rejected' ? {} : unknown,
      );
    }
    if (kind === 'unsigned' && rcode !== RCODES.NOERROR)
      throw new DnsServerError(
        'refused',
        `${this.#address} rejects the request without a signature. Check that it has the key ${this.#key.name} with this secret, that both clocks agree, and that it accepts requests from this service.`,
        unknown,
      );
    throw new DnsServerError(
      'bad_response',
      `The response of ${this.#address} is not signed with the key ${this.#key.name}, so it cannot be trusted.`,
      unknown,
    );
  }

  #notHeld(zone: string): DnsServerError {
    return new DnsServerError(
      'no_such_zone',
      `${this.#address} does not serve the zone ${zone}. Enter the primary server of the zone.`,
    );
  }

  /** Most servers verify the key of a question about the root, even if they refuse to answer it. */
  async #checkKey() {
    const result = await exchange(this.#peer, encodeAuthoritativeQuery('.', 'SOA'));
    if (result.kind === 'untrusted' && result.verification.kind === 'unsigned')
      throw new DnsServerError(
        'refused',
        `${this.#address} verifies keys only for its own zones. Enter the zones of the key ${this.#key.name}, so that it can be tested.`,
      );
    this.#trusted(result, false);
  }

  async check() {
    if (this.#zones.length === 0) await this.#checkKey();
    for (const zone of this.#zones) {
      if ((await this.zoneOf(zone)) !== zone) throw this.#notHeld(zone);
      const { rcode } = await this.#send(encodeUpdate(zone, [], []), false);
      this.#requireDone(rcode, zone, zone);
    }
    return { zones: this.#zones };
  }
}

const isAt = (answer: Answer, name: string, type: string): boolean =>
  answer.type === type && answer.name.toLowerCase() === name;

const textOf = (record: Answer): string => normalizedValue(record.type, recordText(record) ?? '');

const entriesOf = (records: Answer[]) =>
  records.map((record) => ({
    values: [textOf(record)],
    ttl: 'ttl' in record ? (record.ttl ?? 0) : 0,
  }));

/** Whether its text becomes the same bytes again. */
const isRestorable = (record: Answer): boolean =>
  record.type !== 'TXT' ||
  Buffer.concat([record.data].flat().map((part) => Buffer.from(part))).equals(
    Buffer.from(textOf(record), 'utf8'),
  );

function encodedRecord(name: string, type: string, value: string, ttl: number) {
  try {
    // The encoder would take any text for an address.
    const version = { A: 4, AAAA: 6 }[type];
    if (version !== undefined && isIP(value) !== version) throw new Error('no address');
    return updateRecord(name, type, value, ttl);
  } catch {
    throw new DnsServerError('invalid_record', `“${value}” is not a valid ${type} record.`);
  }
}

function keyProblem(address: string, { name, algorithm }: TsigKey, error: string): string {
  if (error === 'BADKEY')
    return `${address} does not know the key ${name} with ${algorithm}, or does not accept it for this zone. Check its name, its algorithm, and the zone.`;
  if (error === 'BADSIG')
    return `${address} has another secret for the key ${name}. Enter the secret that is set on the server.`;
  return `${address} rejects signatures with ${algorithm}. Choose another algorithm.`;
}

function connectionError(
  address: string,
  { failure, wasSent }: Extract<Exchange, { kind: 'failed' }>,
  mayChange: boolean,
): DnsServerError {
  const mayHaveChanged = wasSent && mayChange;
  if (failure.reason === 'forbidden_address')
    return new DnsServerError(
      'unreachable',
      `${address} has no public IP address. Ask your administrator to allow its network (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS).`,
    );
  const problem = failure.reason === 'timeout' ? 'timeout' : 'unreachable';
  return new DnsServerError(
    problem,
    `Could not reach ${address} over TCP: ${failure.detail}. Check the address, the port and firewalls.`,
    { mayHaveChanged },
  );
}
