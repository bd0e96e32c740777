/** API schemas of the published rules of mailbox providers. */

import * as v from 'valibot';
import { PROVIDERS, READINESS } from '../../analysis/result.ts';
import { Reference } from '../../domains/finding.ts';
import { described, named, Text } from '../../http/schemas.ts';

const EXAMPLE_RULE = {
  id: 'spf_or_dkim',
  title: 'Set up SPF or DKIM for your sending domain.',
  applies: 'any',
  status: 'met',
  detail: 'SPF and DKIM pass.',
  checks: ['spf', 'dkim'],
  error: '550 5.7.26',
};

const ProviderRule = named(
  'ProviderRule',
  v.object({
    id: described(v.string(), 'The ID of the rule, which never changes.'),
    title: described(v.string(), 'The requirement in one or two sentences.'),
    applies: described(
      v.picklist(['any', 'bulk']),
      '`any`: the rule applies to all senders. `bulk`: it applies to bulk senders only, so it counts only for marketing mail.',
    ),
    status: described(
      v.picklist(['met', 'not_met', 'unknown']),
      '`unknown`: the result could not be determined, or one message is not enough to tell.',
    ),
    detail: described(v.string(), 'Why the rule has this status.'),
    checks: described(v.array(v.string()), 'IDs of the checks behind the status.'),
    error: described(
      Text,
      'The SMTP error that the provider publishes for the rule. Null if it publishes none.',
    ),
  }),
  'A published requirement of a mailbox provider, and whether the message meets it.',
  EXAMPLE_RULE as never,
);

const EXAMPLE_PROVIDER = {
  provider: 'gmail',
  name: 'Gmail',
  ready: true,
  status: 'ready',
  reference: {
    name: 'Gmail sender guidelines',
    url: 'https://support.google.com/mail/answer/81126',
  },
};

export const ProviderItem = named(
  'ProviderVerdict',
  v.object({
    provider: described(v.picklist(PROVIDERS), 'The ID of the mailbox provider.'),
    name: described(v.string(), 'The name of the mailbox provider.'),
    ready: described(
      v.boolean(),
      'Whether the message is known to meet every applicable rule that one message can show. Rules for bulk senders apply to marketing mail only.',
    ),
    status: described(
      v.picklist(READINESS),
      '`not_ready`: a rule that applies is not met. `unknown`: none is known to be unmet, but at least one could not be determined.',
    ),
    reference: described(Reference, 'The published sender requirements of the provider.'),
    rules: described(v.array(ProviderRule), 'The rules of the provider.'),
  }),
  'Whether a message meets the published rules of one mailbox provider.',
  EXAMPLE_PROVIDER as never,
);
