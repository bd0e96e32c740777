/** Reads DMARC failure reports (RFC 9991; RFC 6591): one message that failed. */

import type { Message } from '../../analysis/mime/message.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import {
  dateOf,
  type FieldMap,
  fieldOf,
  fieldsOf,
  incidentsOf,
  noteRepeatedFields,
  readField,
} from './feedback-fields.ts';
import type { Notes } from './notes.ts';
import type { DmarcFailure } from './report.ts';
import {
  arrivalOf,
  NO_MESSAGE,
  recipientDomainOf,
  reportedMessage,
  sourceAddressOf,
} from './reported-message.ts';
import { domainOfAddress, readDomain } from './values.ts';

const MAX_VALUES = 20;

export function readDmarcFailure(
  map: FieldMap,
  reported: Message | null,
  reporter: string,
  notes: Notes,
): DmarcFailure {
  const message = reported ? reportedMessage(reported) : NO_MESSAGE;
  const derived: string[] = [];
  const orDerived = <T>(name: string, value: T | null, derive: () => T | null): T | null => {
    if (value !== null || !reported) return value;
    const found = derive();
    if (found !== null) derived.push(name);
    return found;
  };
  const words = (name: string) =>
    fieldsOf(map, name)
      .flatMap((value) => value.toLowerCase().split(/[\s,]+/))
      .filter((word) => word !== '')
      .slice(0, MAX_VALUES);
  noteRepeatedFields(map, notes);
  return {
    type: 'dmarc_failure',
    reporter,
    authFailure: words('auth-failure'),
    deliveryResult: fieldOf(map, 'delivery-result', 40)?.toLowerCase() ?? null,
    identityAlignment: words('identity-alignment'),
    sourceAddress: orDerived(
      'source_address',
      readField(map, ['source-ip'], normalizeAddress, notes),
      () => sourceAddressOf(reported!),
    ),
    domain: orDerived(
      'domain',
      readField(map, ['reported-domain'], readDomain, notes),
      () => message.fromDomain,
    ),
    reportedUri: fieldsOf(map, 'reported-uri').slice(0, MAX_VALUES),
    dkimDomain: readField(map, ['dkim-domain'], readDomain, notes),
    dkimSelector: fieldOf(map, 'dkim-selector', 255),
    spfDns: fieldOf(map, 'spf-dns'),
    arrivedAt: orDerived('arrived_at', readField(map, ['arrival-date'], dateOf, notes), () =>
      arrivalOf(reported!),
    ),
    incidents: incidentsOf(map, notes),
    authenticationResults: map.get('authentication-results')?.[0]?.slice(0, 1000) ?? null,
    recipientDomain: orDerived(
      'recipient_domain',
      domainOfAddress(fieldOf(map, 'original-rcpt-to')),
      () => recipientDomainOf(reported!),
    ),
    message,
    derived,
  };
}
