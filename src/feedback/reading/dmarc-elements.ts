/** Repeated elements of a DMARC report that may occur only once. */

import type { Notes } from './notes.ts';
import type { XmlElement } from './xml.ts';

const words = (text: string): Set<string> => new Set(text.split(' '));

/** Elements that may occur only once, by their parent. */
const SINGLE: Record<string, Set<string>> = {
  report_metadata: words('org_name email extra_contact_info report_id date_range generator'),
  date_range: words('begin end'),
  policy_published: words('domain p sp np adkim aspf pct fo testing discovery_method'),
  record: words('row identifiers auth_results'),
  row: words('source_ip count policy_evaluated'),
  policy_evaluated: words('disposition dkim spf'),
  reason: words('type comment'),
  identifiers: words('header_from envelope_from envelope_to'),
  dkim: words('domain selector result human_result'),
  spf: words('domain scope result human_result'),
};

/** Notes repetitions with different content, in the element and everything below it. */
export function noteRepeated({ name, children }: XmlElement, notes: Notes): void {
  const single = SINGLE[name];
  const first = new Map<string, XmlElement>();
  for (const one of children) {
    noteRepeated(one, notes);
    if (!single?.has(one.name)) continue;
    const known = first.get(one.name);
    if (!known) first.set(one.name, one);
    else if (known.text !== one.text || one.children.length > 0) noteElement(one.name, notes);
  }
}

export const noteElement = (name: string, notes: Notes): void =>
  notes.addValue('a repeated element, of which only the first counts', name);
