/** API schemas of the placement in seed mailboxes. */

import * as v from 'valibot';
import { described, named, Text, Time } from '../../http/schemas.ts';

export const PLACEMENTS = [
  'inbox',
  'promotions',
  'social',
  'updates',
  'forums',
  'spam',
  'missing',
  'pending',
  'unknown',
] as const;

export const PLACEMENT_STATUSES = ['none', 'waiting', 'settled'] as const;

const MATCHES = ['address', 'token', 'message_id', 'probable'] as const;

export const SeedAddress = named(
  'SeedAddress',
  v.object({
    provider: described(v.string(), 'The mailbox provider of the seed mailbox.'),
    address: described(v.string(), 'The address of the seed mailbox.'),
  }),
  'A seed mailbox to which the message should be sent too.',
  { provider: 'gmail', address: 'seed-1@example.net' },
);

const PlacementReason = named(
  'PlacementReason',
  v.object({
    field: described(
      v.string(),
      'The header field, as the provider added it. `folder` for a message that was moved.',
    ),
    name: described(
      v.string(),
      'What the value is about, such as `dmarc` or `SFV`. `moved_from`: the value is the placement before.',
    ),
    value: described(v.string(), 'The value.'),
    text: described(v.string(), 'What it means, as a sentence.'),
  }),
  'What the provider itself wrote into its copy of the message.',
  {
    field: 'X-Forefront-Antispam-Report',
    name: 'SFV',
    value: 'SPM',
    text: 'Microsoft’s filters marked the message as spam.',
  },
);

const EXAMPLE_SEED_PLACEMENT = {
  provider: 'gmail',
  address: 'seed+k7q2m9x4t1w8b3z6@gmail.com',
  placement: 'inbox',
  settled: true,
  match: 'address',
  folder: 'INBOX',
  searched: ['[Gmail]/Spam', 'INBOX'],
  seconds: 2,
  problem: null,
  detail: null,
  reasons: [
    {
      field: 'Authentication-Results',
      name: 'dmarc',
      value: 'pass',
      text: 'DMARC passes at the provider.',
    },
  ],
} as const;

/** For schemas with some of these fields. */
export const SEED_PLACEMENT_FIELDS = {
  provider: described(v.string(), 'The mailbox provider of the seed mailbox.'),
  address: described(v.string(), 'The address of the seed mailbox for this test.'),
  placement: described(
    v.picklist(PLACEMENTS),
    'The folder or tab. `pending`: not found yet. `missing`: in none of the folders in `searched`. `unknown`: see `problem`.',
  ),
  settled: described(
    v.boolean(),
    'Whether the placement is final. A message that was found is checked again for some minutes, because providers can move it. `missing` is shown after 15 minutes, and becomes final later.',
  ),
  match: described(
    v.nullable(v.picklist(MATCHES)),
    'How the message was recognized. `address`: by the seed address of the test. `probable`: only by sender, subject and time. Null if it was not found.',
  ),
  folder: described(Text, 'The folder of the message. Null if it was not found.'),
  searched: described(v.array(v.string()), 'The folders that were searched.'),
  arrived_at: described(
    v.nullable(Time),
    'When the provider received the message, by its own clock. Null if it was not found.',
  ),
  seconds: described(
    v.nullable(v.number()),
    'Seconds between the arrival at the test address and at the seed mailbox. Null if either is missing.',
  ),
  problem: described(Text, 'Why the placement is unknown. Null otherwise.', 'sign_in_failed'),
  detail: described(
    Text,
    'The same in sentences, with what to do. Null without a problem.',
    'The mail server rejects the user name or password. Create a new app password.',
  ),
  reasons: described(
    v.array(PlacementReason),
    'What the provider wrote into the header, and whether the message was moved after its delivery. Empty if nothing is known.',
  ),
};

export const SeedPlacement = named(
  'SeedPlacement',
  v.object(SEED_PLACEMENT_FIELDS),
  'Where the message arrived in one seed mailbox.',
  EXAMPLE_SEED_PLACEMENT as never,
);

export type SeedPlacement = v.InferOutput<typeof SeedPlacement>;
