/** `ptr`: whether the sending IP address has a proper reverse DNS name. */

import { normalizeAddress, reverseName } from '../../lib/addresses.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  fail,
  lookupFailed,
  offline,
  PUBLIC_FAILED_LOOKUPS,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { clientPtr, containsAddress, publicClient, usableNames } from '../dns/names.ts';
import { isOwnName } from '../sending-services/own-server.ts';
import { knownName } from '../sending-services/ownership.ts';

const NOT_CHECKED = 'Reverse DNS was not checked.';

/**
 * A generic name, built from the address, only warns: no large mailbox provider rejects it by rule, but
 * many filters treat it as a home connection or an unconfigured server.
 */
export const ptr: Check = {
  id: 'ptr',
  category: 'infrastructure',
  points: 6,
  label: 'Reverse DNS (PTR)',
  issueTitle: 'Reverse DNS of the sending IP address is missing or generic',
  reference: rfc(1912, '2.1'),
  publicEvidence: {
    setup: 'shown',
    client_ip: 'shown',
    asked: 'shown',
    names: 'shown',
    ...PUBLIC_FAILED_LOOKUPS,
  },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address } = client;
    const ptrName = reverseName(address);
    const answer = (await context.fact(clientPtr))!;
    const names = recordsOf(answer)?.slice(0, 10) ?? [];
    const evidence = { client_ip: address, asked: ptrName, names };
    if (answer.status === 'error') {
      const failure = { name: ptrName, type: 'PTR' as const, reason: answer.reason };
      return lookupFailed('Could not look up the reverse DNS name.', [failure], evidence);
    }
    const usable = usableNames(answer);
    if (usable.length === 0)
      return {
        ...fail({ ...missingName(address, names), fix: await fixFor(context, address), evidence }),
        alsoFixes: FIXED_WITH_NAME,
      };
    const own = await Promise.all(usable.map((name) => isOwnName(context, name)));
    const specific = usable.filter((name, index) => own[index] || !containsAddress(name, address));
    if (specific.length === 0)
      return {
        ...warn({
          title: `${address} has a generic PTR record: ${usable[0]}.`,
          detail:
            'Hosting providers assign such names to all their addresses. Spam filters treat such a server as a home computer or a poorly maintained server.',
          fix: await fixFor(context, address),
          evidence,
        }),
        alsoFixes: FIXED_WITH_NAME,
      };
    return pass(
      `${address} has a PTR record: ${specific[0]}.`,
      'Mailbox providers can look up the name of your sending server.',
      evidence,
    );
  },
};

/** The new name gets an address record and is used in HELO. */
const FIXED_WITH_NAME = ['fcrdns', 'helo'];

function missingName(address: string, names: string[]): { title: string; detail: string } {
  const why =
    'Gmail rejects mail from such servers (5.7.25), and so do many other mailbox providers.';
  if (names.length === 0) return { title: `${address} has no PTR record.`, detail: why };
  return {
    title: `The PTR record of ${address} is not a full host name.`,
    detail: `It points to “${names[0]}”, which is not a public host name. ${why}`,
  };
}

async function fixFor(context: Context, address: string) {
  const name = knownName(context);
  const type = address.includes(':') ? 'AAAA' : 'A';
  const known = name === null ? null : recordsOf(await context.resolver(name, type));
  const hasAddress = known?.some((text) => normalizeAddress(text) === address);
  const hasHelo = context.envelope.helo?.toLowerCase() === name;
  const publish = `publish an ${type} record for ${name} with ${address}`;
  const rest = [...(hasAddress ? [] : [publish]), ...(hasHelo ? [] : ['use this name in HELO'])];
  if (name === null)
    return {
      text: `Ask the provider of ${address} to set a PTR record with a host name at a domain of your own, such as mail.example.com. Also publish an ${type} record for that name with ${address}, and use it in HELO.`,
    };
  return {
    text: `Ask the provider of ${address} to set this PTR record, or set it in the provider's control panel.${rest.length > 0 ? ` Also ${rest.join(', and ')}.` : ''}${hasAddress ? ` The ${type} record of ${name} already has this address.` : ''}`,
    record: { type: 'PTR', name: reverseName(address), value: name },
  };
}
