/** The check `ptr`: does the client's address have a name in the reverse DNS? */

import { reverseName } from '../../lib/addresses.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  fail,
  notAnswered,
  offline,
  PUBLIC_UNANSWERED,
  pass,
  rfc,
  skipped,
  warn,
} from '../check.ts';
import { clientPtr, holdsAddress, proposedName, publicClient, usableNames } from '../dns/names.ts';

const NOT_CHECKED = 'The name of the client was not looked up.';

/**
 * A name made from the address only warns: no large receiver refuses it by rule, but many filters
 * take it for a home connection or an unconfigured server.
 */
export const ptr: Check = {
  id: 'ptr',
  category: 'infrastructure',
  points: 6,
  label: 'Reverse DNS (PTR)',
  issueTitle: 'The sending address has no reverse DNS name, or a generic one',
  reference: rfc(1912, '2.1'),
  publicEvidence: { client_ip: 'shown', asked: 'shown', names: 'shown', ...PUBLIC_UNANSWERED },
  async run(context) {
    const client = publicClient(context);
    if (client.address === null) return skipped(NOT_CHECKED, client.reason);
    if (context.offline) return offline(NOT_CHECKED);
    const { address } = client;
    const question = reverseName(address);
    const answer = (await context.fact(clientPtr))!;
    const names = recordsOf(answer)?.slice(0, 10) ?? [];
    const evidence = { client_ip: address, asked: question, names };
    if (answer.status === 'error') {
      const failure = { name: question, type: 'PTR' as const, reason: answer.reason };
      return notAnswered('The name of the client could not be looked up.', [failure], evidence);
    }
    const usable = usableNames(answer);
    if (usable.length === 0)
      return fail({ ...missing(address, names), fix: fixFor(context, address), evidence });
    const own = usable.filter((name) => !holdsAddress(name, address));
    if (own.length === 0)
      return warn({
        title: `The PTR record of ${address} holds a generic name, ${usable[0]}.`,
        detail:
          'Providers give such names to every address they have, so filters take the server for a home connection or one that nobody looks after.',
        fix: fixFor(context, address),
        evidence,
      });
    return pass(
      `${address} has a PTR record: ${own[0]}.`,
      'Receivers can look up the name of the server that delivers your mail.',
      evidence,
    );
  },
};

function missing(address: string, names: string[]): { title: string; detail: string } {
  const why = 'Gmail refuses mail from such servers (5.7.25), and many other receivers do as well.';
  if (names.length === 0) return { title: `${address} has no PTR record.`, detail: why };
  return {
    title: `The PTR record of ${address} does not hold the full name of a server.`,
    detail: `It points to “${names[0]}”, which means nothing on the Internet. ${why}`,
  };
}

function fixFor(context: Context, address: string) {
  const name = proposedName(context);
  const type = address.includes(':') ? 'AAAA' : 'A';
  return {
    text: `Ask the provider of the address ${address} (it is often a setting of the server or the IP address in its control panel) to set this PTR record. ${name} needs an ${type} record with ${address} as well, and should be the name that the server says in HELO.`,
    record: { type: 'PTR', name: reverseName(address), value: name },
  };
}
