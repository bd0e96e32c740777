/** Reads DMARC failure reports (RFC 9991; RFC 6591): one message that failed. */

import type { Message } from '../../analysis/mime/message.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import { dateOf, type FieldMap, fieldOf, fieldsOf, incidentsOf } from './feedback-fields.ts';
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
  const source = fieldOf(map, 'source-ip');
  return {
    type: 'dmarc_failure',
    reporter,
    authFailure: words('auth-failure'),
    deliveryResult: fieldOf(map, 'delivery-result', 40)?.toLowerCase() ?? null,
    identityAlignment: words('identity-alignment'),
    sourceAddress: orDerived(
      'source_address',
      source === null ? null : normalizeAddress(source),
      () => sourceAddressOf(reported!),
    ),
    domain: orDerived(
      'domain',
      readDomain(fieldOf(map, 'reported-domain')),
      () => message.fromDomain,
    ),
    reportedUri: fieldsOf(map, 'reported-uri').slice(0, MAX_VALUES),
    dkimDomain: readDomain(fieldOf(map, 'dkim-domain')),
    dkimSelector: fieldOf(map, 'dkim-selector', 255),
    spfDns: fieldOf(map, 'spf-dns'),
    arrivedAt: orDerived('arrived_at', dateOf(fieldOf(map, 'arrival-date')), () =>
      arrivalOf(reported!),
    ),
    incidents: incidentsOf(map),
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
