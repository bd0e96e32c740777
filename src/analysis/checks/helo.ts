/** The check `helo`: is the HELO name a full host name that resolves to the sending server? */

import { normalizeAddress } from '../../lib/addresses.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { type DnsAnswer, recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { brokenName } from '../dns/broken-name.ts';
import {
  clientPtr,
  confirmedNames,
  containsAddress,
  fullHostName,
  publicClient,
  usableNames,
} from '../dns/names.ts';
import { heloSetting } from '../mime/server-software.ts';
import { canPublish, proposedName } from '../sending-services/ownership.ts';

const NOT_CHECKED = 'The HELO name was not checked.';

export const helo: Check = {
  id: 'helo',
  category: 'infrastructure',
  points: 4,
  label: 'HELO name',
  issueTitle: 'The HELO name is invalid or does not resolve to the server',
  reference: rfc(5321, '4.1.1.1'),
  publicEvidence: {
    setup: 'shown',
    helo: 'shown',
    client_ip: 'shown',
    addresses: 'shown',
    length: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    const announced = context.envelope.helo;
    if (announced === null)
      return skipped(NOT_CHECKED, 'The HELO name of the sending server is unknown.');
    const name = fullHostName(announced);
    // Text that is not a host name is never looked up.
    if (name === null) return invalidName(context, announced);
    return context.offline ? offline(NOT_CHECKED) : resolveName(context, name, client.address);
  },
};

async function resolveName(context: Context, name: string, address: string): Promise<Finding> {
  const types = address.includes(':') ? (['AAAA', 'A'] as const) : (['A', 'AAAA'] as const);
  const [sameFamily, otherFamily] = (await Promise.all(
    types.map((type) => context.resolver(name, type)),
  )) as [DnsAnswer, DnsAnswer];
  const addresses = [sameFamily, otherFamily]
    .flatMap((answer) => recordsOf(answer) ?? [])
    .slice(0, 20);
  const evidence = { helo: name, client_ip: address, addresses };
  if (addresses.some((text) => normalizeAddress(text) === address))
    return pass(
      `The HELO name ${name} resolves to the sending server.`,
      'It is a full host name and belongs to the sending server.',
      evidence,
    );
  const failures = [sameFamily, otherFamily].flatMap((answer, index) =>
    answer.status === 'error' ? [{ name, type: types[index]!, reason: answer.reason }] : [],
  );
  // A failed lookup of the other address family matters only if the client's own family is empty.
  if (
    sameFamily.status === 'error' ||
    (otherFamily.status === 'error' && sameFamily.status !== 'found')
  )
    return lookupFailed('Could not look up the HELO name.', failures, evidence);
  const reverseNames = usableNames(await context.fact(clientPtr));
  const settingOf = (other: string) => heloSetting(context.message, name, other);
  const publicName = (await context.fact(confirmedNames)).find(
    (other) => !containsAddress(other, address),
  );
  const ownName = publicName
    ? `its name in reverse DNS, ${publicName}, in HELO (${settingOf(publicName)})`
    : `a HELO name of yours that resolves to ${address} (${settingOf('that name')})`;
  const broken = await brokenName(ownerOf(name), context.resolver);
  const fix =
    canPublish(context, name) && broken?.kind !== 'missing'
      ? {
          text: `Add this record for ${name}. Or configure the server to use ${ownName}.`,
          record: { type: types[0], name, value: address },
        }
      : `Configure the server to use ${ownName}.`;
  const finding =
    addresses.length === 0
      ? fail({
          title: `The HELO name ${name} does not resolve.`,
          detail:
            'Some mail servers reject a server whose HELO name has no IP address in DNS, and spam filters distrust it.',
          fix,
          evidence,
        })
      : warn({
          title: `The HELO name ${name} resolves to another IP address.`,
          detail: `It resolves, but not to ${address}. Spam filters treat this as a sign of a misconfigured or malicious server.`,
          fix,
          evidence,
        });
  // If the PTR record has the same name, both checks fail because of the same missing record.
  return reverseNames.includes(name) ? { ...finding, dependsOn: ['fcrdns'] } : finding;
}

async function invalidName(context: Context, announced: string): Promise<Finding> {
  const answer = context.offline ? null : await context.fact(clientPtr);
  const name = usableNames(answer)[0] ?? proposedName(context);
  return fail({
    title: `The sending server announces ${describe(announced)} in HELO instead of its full host name.`,
    detail:
      'Mailbox providers expect the full host name of the server. Many reject or distrust anything else.',
    fix: `Configure the mail server to use its full host name in HELO, such as ${name} (${heloSetting(context.message, announced, name)}).`,
    evidence: { helo: announced.slice(0, 200).toWellFormed(), length: announced.length },
  });
}

function describe(announced: string): string {
  if (announced.trim() === '') return 'nothing';
  if (announced.length <= 60 && normalizeAddress(announced) !== null) return 'an IP address';
  if (/^[a-z0-9.-]{1,60}$/i.test(announced)) return `“${announced}”`;
  return 'an invalid host name';
}
