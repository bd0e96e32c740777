/** Checks the JSON files of `src`, which people write: each fault is named with its file, entry and field. */

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import type { ListEntry } from '../src/analysis/blocklists/lists.ts';
import type { Brand } from '../src/analysis/brands/brands.ts';
import { DECLARATIONS } from '../src/analysis/declarations.generated.ts';
import type { GatewayEntry } from '../src/analysis/forwarding/gateways.ts';
import type { CautionWords } from '../src/analysis/links/skip-reasons.ts';
import type { ProgramEntry } from '../src/analysis/sender-setup/default-sender.ts';
import type { DeviceEntry } from '../src/analysis/sender-setup/devices.ts';
import type { MailServiceEntry } from '../src/analysis/sender-setup/mail-service.ts';
import type { ServiceEntry } from '../src/analysis/sending-services/service-entry.ts';
import { SENDING_SERVICES } from '../src/analysis/sending-services/services.ts';
import type { Vendor } from '../src/analysis/sending-services/vendors.ts';
import { BOUNCE_REASONS } from '../src/feedback/bounces/reasons.ts';
import type { ReplyEntry } from '../src/feedback/bounces/replies.ts';
import type { BounceTexts } from '../src/feedback/reading/bounce-text.ts';
import { parseNetwork } from '../src/lib/addresses.ts';
import { normalizeDomain } from '../src/lib/domain-names.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const text = v.pipe(
  v.string(),
  v.regex(/^\S(?:.*\S)?$/, 'Expected a text without blanks around it'),
);
const domain = v.pipe(
  v.string(),
  v.check(
    (name) => name.includes('.') && normalizeDomain(name) === name,
    'Expected a domain in lower case',
  ),
);
const address = v.pipe(v.string(), v.url(), v.startsWith('https://'));
const fieldPattern = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9*-]+$/, 'Expected the name of a field in lower case'),
);
const selector = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9_<>-]+$/, 'Expected a selector in lower case'),
);
const pattern = v.pipe(v.string(), v.check(isPattern, 'Expected a regular expression'));

/** A list without repetitions, and not empty: a field without values is left out. */
const list = <T extends v.GenericSchema<string>>(item: T) =>
  v.pipe(
    v.array(item),
    v.minLength(1),
    v.checkItems(
      (one, index, all) => all.indexOf(one) === index,
      'Repeats another value of the list',
    ),
  );

/** Entries, no two of which have the same value in this field. */
const entries = <T extends v.GenericSchema>(entry: T, key: string) =>
  v.pipe(
    v.array(entry),
    v.checkItems(
      (one, index, all) =>
        all.findIndex((other) => fieldOf(other, key) === fieldOf(one, key)) === index,
      `Has the ${key} of another entry`,
    ),
  );

const fieldOf = (entry: unknown, key: string): unknown => (entry as Record<string, unknown>)[key];

const service = v.strictObject({
  id: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/))),
  name: text,
  note: v.optional(text),
  isShared: v.optional(v.boolean()),
  domains: v.optional(list(domain)),
  hosts: v.optional(list(domain)),
  signs: v.optional(list(domain)),
  mailFrom: v.optional(list(domain)),
  notHosts: v.optional(list(domain)),
  mx: v.optional(list(domain)),
  regionalMx: v.optional(list(domain)),
  keys: v.optional(list(domain)),
  fields: v.optional(list(fieldPattern)),
  spfIncludes: v.optional(list(domain)),
  spfByReturnPath: v.optional(v.boolean()),
  dkimCnames: v.optional(v.array(v.strictObject({ selector, target: text }))),
  dkimTxt: v.optional(v.nullable(selector)),
  dkimAutomatic: v.optional(v.boolean()),
  selectors: v.optional(list(selector)),
  returnPath: v.optional(text),
  returnPathLabel: v.optional(selector),
  guide: address,
  dkimGuide: v.optional(address),
  replacesFrom: v.optional(address),
}) satisfies v.GenericSchema<ServiceEntry>;

/** `names`: the SPF records that list the networks. `read`: the month in which they were read, if known. */
const serviceNetworks = v.strictObject({
  service: v.picklist(SENDING_SERVICES.map(({ id }) => id)),
  names: list(domain),
  read: v.optional(v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/))),
  networks: list(
    v.pipe(
      v.string(),
      v.check((one) => {
        try {
          return parseNetwork(one) !== null;
        } catch {
          return false;
        }
      }, 'Expected a network'),
    ),
  ),
});

const vendor = v.strictObject({
  name: text,
  domains: list(domain),
  guide: v.optional(address),
}) satisfies v.GenericSchema<Vendor>;

const brand = v.strictObject({
  name: text,
  needsRole: v.optional(v.boolean()),
  aliases: v.optional(list(text)),
  domains: list(domain),
}) satisfies v.GenericSchema<Brand>;

const code = v.pipe(
  v.string(),
  v.regex(/^127(?:\.\d{1,3}){3}$/, 'Expected an address in 127.0.0.0/8'),
);
const bit = v.picklist(['1', '2', '4', '8', '16', '32', '64', '128']);

const blocklist = v.strictObject({
  name: text,
  zone: domain,
  note: v.optional(text),
  kind: v.picklist(['ip', 'domain', 'allow']),
  tier: v.picklist([1, 2, 3]),
  byDefault: v.optional(v.boolean()),
  ipv6: v.optional(v.boolean()),
  acceptsAddresses: v.optional(v.boolean()),
  keyedZone: v.optional(v.pipe(v.string(), v.startsWith('<key>.'))),
  needsKey: v.optional(v.boolean()),
  terms: v.optional(text),
  delisting: address,
  test: v.optional(v.strictObject({ listed: text, unlisted: text })),
  codes: v.optional(v.record(code, text)),
  bits: v.optional(v.record(bit, text)),
  noted: v.optional(v.record(v.union([code, bit]), text)),
  advice: v.optional(v.record(code, text)),
  errors: v.optional(v.record(code, text)),
}) satisfies v.GenericSchema<ListEntry>;

const phrase = v.pipe(
  text,
  v.check(
    (one) => !one.includes(',') && one === one.toLowerCase(),
    'Expected one phrase in lower case',
  ),
);
const language = v.pipe(v.string(), v.regex(/^[a-z]{2}$/, 'Expected a code such as en'));
const byLanguage = v.record(language, list(phrase));

const checks = v.array(
  v.pipe(
    v.string(),
    v.check(
      (id) => id.startsWith('@') || Object.hasOwn(DECLARATIONS, id),
      'Expected the id of a check',
    ),
  ),
);
const reply = v.strictObject({
  note: v.optional(text),
  status: v.optional(
    list(v.pipe(v.string(), v.regex(/^\d\.[\dx]{1,3}$/, 'Expected a code such as 7.26 or 7.65x'))),
  ),
  text: v.optional(v.union([pattern, list(pattern)])),
  caseSensitive: v.optional(v.boolean()),
  reason: v.optional(v.picklist(BOUNCE_REASONS)),
  weak: v.optional(v.boolean()),
  meaning: v.optional(text),
  checks,
}) satisfies v.GenericSchema<ReplyEntry>;
const replies = v.pipe(
  v.strictObject({
    checkGroups: v.record(text, checks),
    providers: entries(
      v.strictObject({
        name: text,
        domains: list(domain),
        marks: pattern,
        caseSensitive: v.optional(v.boolean()),
        reference: v.optional(address),
        source: v.optional(text),
        replies: v.array(reply),
      }),
      'name',
    ),
    anyServer: v.array(reply),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { checkGroups, providers, anyServer } = dataset.value;
    for (const { meaning, checks } of [
      ...providers.flatMap(({ replies }) => replies),
      ...anyServer,
    ])
      for (const id of checks)
        if (id.startsWith('@') && !Object.hasOwn(checkGroups, id.slice(1)))
          addIssue({ message: `"${meaning}": ${id} is not in checkGroups` });
  }),
);

const named = v.strictObject({ name: text, domains: list(domain) });
const freemail = v.strictObject({
  brands: entries(v.strictObject({ provider: text, brand: text }), 'brand'),
  providers: entries(named, 'name'),
  platforms: list(domain),
});

const gateway = v.pipe(
  v.strictObject({
    name: text,
    service: v.optional(
      v.pipe(v.string(), v.check(isService, 'Expected the id of a sending service')),
    ),
    hosts: v.optional(list(domain)),
    fields: v.optional(list(fieldPattern)),
    footers: v.optional(list(text)),
    place: text,
    guide: v.optional(address),
  }),
  v.check(
    ({ service, guide }) => service !== undefined || guide !== undefined,
    'Needs a service or a guide',
  ),
) satisfies v.GenericSchema<GatewayEntry>;

const mailService = v.strictObject({
  name: text,
  server: domain,
  condition: v.optional(text),
  guide: v.optional(address),
}) satisfies v.GenericSchema<MailServiceEntry>;

const program = v.strictObject({
  name: text,
  addresses: v.optional(list(v.pipe(text, v.includes('@')))),
  fields: v.optional(list(fieldPattern)),
  setting: text,
}) satisfies v.GenericSchema<ProgramEntry>;

const formProgram = v.strictObject({ name: text, words: list(text), setting: text });

const device = v.strictObject({
  kind: text,
  maker: v.optional(text),
  patterns: list(pattern),
}) satisfies v.GenericSchema<DeviceEntry>;

const stems = v.array(phrase);
const cautionWords = v.strictObject({
  purpose: text,
  anywhere: stems,
  atStart: stems,
  whole: stems,
}) satisfies v.GenericSchema<CautionWords>;

const bounceTexts = v.strictObject({
  source: text,
  senders: list(pattern),
  programs: entries(v.strictObject({ name: text, start: list(pattern) }), 'name'),
  ends: list(pattern),
  labels: list(pattern),
  delayed: list(pattern),
}) satisfies v.GenericSchema<BounceTexts>;

/** The schema of each file below src. */
const FILES: Record<string, v.GenericSchema> = {
  'analysis/blocklists/lists.json': entries(blocklist, 'zone'),
  'analysis/brands/brands.json': entries(brand, 'name'),
  'analysis/forwarding/gateways.json': entries(gateway, 'name'),
  'analysis/kind/phrases.json': v.record(text, byLanguage),
  'analysis/links/caution-words.json': entries(cautionWords, 'purpose'),
  'analysis/links/unsubscribe-phrases.json': v.record(text, byLanguage),
  'analysis/sender-setup/devices.json': v.array(device),
  'analysis/sender-setup/form-programs.json': entries(formProgram, 'name'),
  'analysis/sender-setup/line-names.json': v.strictObject({
    access: list(domain),
    rented: list(domain),
  }),
  'analysis/sender-setup/mail-services.json': entries(mailService, 'name'),
  'analysis/sender-setup/programs.json': entries(program, 'name'),
  'analysis/sending-services/business-apps.json': entries(service, 'name'),
  'analysis/sending-services/email-apis.json': entries(service, 'name'),
  'analysis/sending-services/freemail.json': freemail,
  'analysis/sending-services/gateways.json': entries(service, 'name'),
  'analysis/sending-services/hosting-providers.json': entries(service, 'name'),
  'analysis/sending-services/mailbox-hosts.json': entries(service, 'name'),
  'analysis/sending-services/newsletters.json': entries(service, 'name'),
  'analysis/sending-services/vendors.json': entries(vendor, 'name'),
  'feedback/bounces/replies.json': replies,
  'feedback/reading/bounce-texts.json': bounceTexts,
  'feedback/sources/forwarders.json': entries(named, 'name'),
  'feedback/sources/networks.json': entries(serviceNetworks, 'service'),
  'net/imap/junk-folders.json': byLanguage,
};

/** The faults of a file below src with this content, each a line. */
export function dataFaults(path: string, content: string): string[] {
  const schema = FILES[path];
  if (!schema) return [`src/${path}: scripts/data.ts has no schema for this file`];
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    return [`src/${path}: ${(error as Error).message}`];
  }
  const { issues = [] } = v.safeParse(schema, value);
  return issues.map(({ path: keys = [], message }) => {
    const place = placeOf(
      value,
      keys.map(({ key }) => key as string | number),
    );
    return `src/${path}: ${[...place, message].join(': ')}`;
  });
}

/** `entry 3 (Brevo)`, `guide`: the keys to a value, with the names of the entries among them. */
function placeOf(root: unknown, keys: (string | number)[]): string[] {
  let value = root;
  return keys.map((key) => {
    value = (value as Record<string | number, unknown> | null)?.[key];
    if (typeof key === 'string') return key;
    const name = (value as { name?: unknown } | null)?.name;
    return typeof name === 'string' ? `entry ${key + 1} (${name})` : `entry ${key + 1}`;
  });
}

function isService(id: string): boolean {
  return SENDING_SERVICES.some((one) => one.id === id);
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const paths = globSync('**/*.json', { cwd: `${ROOT}src` })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.endsWith('tsconfig.json'));
  const faults = paths.flatMap((path) =>
    dataFaults(path, readFileSync(`${ROOT}src/${path}`, 'utf8')),
  );
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
