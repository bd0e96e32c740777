/** Schemas of inboxes in requests and responses. */

import * as v from 'valibot';
import { described, idOf, named, PAGE_QUERY, Text, Time, typeField } from '../../http/schemas.ts';
import { KINDS } from './kind.ts';

const INBOX_FIELDS = {
  id: idOf('ibx'),
  object: typeField('inbox'),
  name: described(Text, 'The name that its tests get. Null if it has none.'),
  address: described(
    v.pipe(v.string(), v.metadata({ format: 'email' })),
    'The address of the inbox. Each message to it becomes a new test. It works until the inbox is deleted.',
  ),
  token: described(v.string(), 'The local part of the address.'),
  kind: described(v.picklist(KINDS), 'The kind of mail of its tests.'),
  metadata: described(v.record(v.string(), v.string()), 'The key-value pairs of its tests.'),
  tags: described(v.array(v.string()), 'The tags of its tests, in alphabetical order.'),
  domain_id: described(
    Text,
    'The domain that its tests belong to. Null: the one that matches the From address.',
  ),
  livemode: described(v.boolean(), 'False for inboxes created with a test-mode key.'),
  created_at: Time,
  last_received_at: described(
    v.nullable(Time),
    'When the last message arrived. Null before the first one.',
  ),
};

export const Inbox = named(
  'Inbox',
  v.object(INBOX_FIELDS),
  'An inbox has an address that never expires. Each message to it becomes a new test with the settings of the inbox.',
  {
    name: 'Newsletter',
    address: 'h4x9m2k7q1t8w3b6@inbox.example.com',
    token: 'h4x9m2k7q1t8w3b6',
    kind: 'marketing',
    metadata: { pipeline: 'nightly' },
    tags: ['newsletter'],
    domain_id: null,
    livemode: true,
    last_received_at: null,
  } as never,
);
export type Inbox = v.InferOutput<typeof Inbox>;

export const InboxListQuery = v.strictObject(PAGE_QUERY);
