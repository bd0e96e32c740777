/** Reads complaints: the Abuse Reporting Format (RFC 5965), as Yahoo, Microsoft and others send it. */

import type { Message } from '../../analysis/mime/message.ts';
import { normalizeAddress } from '../../lib/addresses.ts';
import {
  dateOf,
  type FieldMap,
  fieldOf,
  incidentsOf,
  noteRepeatedFields,
  readField,
} from './feedback-fields.ts';
import type { Notes } from './notes.ts';
import type { Complaint } from './report.ts';
import {
  arrivalOf,
  NO_MESSAGE,
  recipientDomainOf,
  reportedMessage,
  sourceAddressOf,
} from './reported-message.ts';
import { domainOfAddress, readDomain } from './values.ts';

/** `reported` is the attached message; null if there is none. */
export function readComplaint(
  map: FieldMap,
  reported: Message | null,
  reporter: string,
  notes: Notes,
): Complaint {
  const message = reported ? reportedMessage(reported) : NO_MESSAGE;
  const derived: string[] = [];
  /** The field of the report, or else what the attached message shows. */
  const orDerived = <T>(
    name: string,
    value: T | null,
    derive: (message: Message) => T | null,
  ): T | null => {
    if (value !== null || !reported) return value;
    const found = derive(reported);
    if (found !== null) derived.push(name);
    return found;
  };
  noteRepeatedFields(map, notes);
  const kind = fieldOf(map, 'feedback-type', 40)?.toLowerCase() ?? null;
  return {
    type: 'complaint',
    reporter,
    kind: kind ?? 'abuse',
    sourceAddress: orDerived(
      'source_address',
      readField(map, ['source-ip'], normalizeAddress, notes),
      sourceAddressOf,
    ),
    arrivedAt: orDerived(
      'arrived_at',
      readField(map, ['arrival-date', 'received-date'], dateOf, notes),
      arrivalOf,
    ),
    domain: orDerived(
      'domain',
      readField(map, ['reported-domain'], readDomain, notes),
      () => message.fromDomain,
    ),
    recipientDomain: orDerived(
      'recipient_domain',
      domainOfAddress(fieldOf(map, 'original-rcpt-to')),
      recipientDomainOf,
    ),
    incidents: incidentsOf(map, notes),
    userAgent: fieldOf(map, 'user-agent', 255),
    message,
    derived,
  };
}
