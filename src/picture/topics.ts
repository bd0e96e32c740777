/** Which checks of messages and domains are about which topic. */

import type { Topic } from './vocabulary.ts';

const CHECKS: Partial<Record<Topic, string[]>> = {
  spf: ['spf', 'spf_record'],
  dkim: ['dkim', 'dkim_key', 'dkim_selector', 'dkim_coverage'],
  dmarc: ['dmarc', 'spf_alignment', 'dkim_alignment'],
  dmarc_policy: ['dmarc_policy', 'dmarc_record'],
  tls: ['tls'],
  incoming_tls: ['mx_tls', 'mta_sts', 'tls_rpt', 'dane', 'caa'],
  reverse_dns: ['ptr', 'fcrdns', 'helo'],
  mail_servers: ['mx', 'name_servers', 'return_path'],
  blocklists: ['ip_blocklists', 'domain_blocklists', 'link_blocklists'],
  unsubscribe: ['list_unsubscribe', 'one_click', 'one_click_signed', 'unsubscribe_link'],
  bimi: ['bimi'],
};

const TOPIC_OF = new Map(
  Object.entries(CHECKS).flatMap(([topic, ids]) => ids.map((id) => [id, topic as Topic] as const)),
);

/** Everything else that is checked is part of the message. */
export const topicOf = (check: string): Topic => TOPIC_OF.get(check) ?? 'content';
