/** Findings about a signature that a gateway for outgoing mail broke: they name it, and say where to sign instead. */

import type { Context, Fix } from '../check.ts';
import type { Explanation } from '../dkim/failures.ts';
import { type DkimSignature, isOfFromDomain } from '../dkim/outcome.ts';
import { fromDomain } from '../dns/names.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { serviceOfSelector } from '../sending-services/services.ts';
import { capitalized, lowered } from '../text.ts';
import { type FoundGateway, type Gateway, gatewaysOf } from './gateways.ts';

/** Explains a signature that a gateway broke; null if nothing shows one. Not for forwarded copies. */
export async function explainGatewayChange(
  context: Context,
  signature: DkimSignature,
): Promise<Explanation | null> {
  const found = (await context.fact(gatewaysOf)).filter((one) => !isSigner(one, signature));
  const [first, ...others] = found;
  if (!first) return null;
  const { gateway, isCertain, evidence } = first;
  const name = isCertain ? gateway.name : `A gateway, apparently ${gateway.name},`;
  // The published key may also be the wrong one: the signature does not show it.
  const isKeyOpen = signature.cause === 'bad_signature';
  const more =
    others.length === 0
      ? ''
      : ` The message also has traces of ${LIST.format(others.map((one) => one.gateway.name))}.`;
  const own = gatewayFix(context, gateway, signature);
  const fix = isPerhapsRecipients(context)
    ? {
        ...own,
        text: `If ${gateway.name} filters the recipient’s mail, you have nothing to fix as the sender. Only if it filters your outgoing mail: ${lowered(own.text)}`,
      }
    : own;
  return {
    title: `${name} ${isKeyOpen ? 'probably ' : ''}changed ${changeOf(context, signature)} after ${signerOf(signature)} signed the message.`,
    detail: `${evidence}${more} A signature stays valid only if nobody changes the message. Disclaimers, link rewriting and subject tags all break it.`,
    fix: isKeyOpen
      ? {
          ...fix,
          text: `${fix.text} Also compare the key at ${signature.keyName} with that of the signer.`,
        }
      : fix,
  };
}

/** Files whose receiver had a gateway in front of it do not say which server delivered the message to that gateway. */
const isPerhapsRecipients = ({ envelope }: Context): boolean =>
  envelope.file != null && envelope.client_ip === null;

/** Its usual selector shows which service made a signature. */
const signerOf = ({ selector, domain }: DkimSignature): string =>
  serviceOfSelector(selector)?.name ?? domain;

const LIST = new Intl.ListFormat('en-GB');

/** The service that made the signature signs last, so it did not break it. */
const isSigner = ({ gateway }: FoundGateway, { selector, domain }: DkimSignature): boolean =>
  serviceOfSelector(selector)?.name === gateway.name ||
  gateway.hosts.some((host) => domain === host || domain.endsWith(`.${host}`));

function changeOf({ message }: Context, { cause, headers }: DkimSignature): string {
  if (cause === 'body_changed') return 'the body';
  const isTagged = SUBJECT_TAG.test(message.subject?.slice(0, 200) ?? '');
  const isSigned = headers.some((name) => name.toLowerCase() === 'subject');
  return isTagged && isSigned ? 'the subject' : 'a header field';
}

const SUBJECT_TAG = /^\W{0,3}(?:ext(?:ern(?:al|e|o)?)?|spam|suspected|caution|encrypted|secure)\b/i;

/** Signing there comes first: it keeps the disclaimer, and covers what else the gateway changes. */
function gatewayFix(
  context: Context,
  { name, place, guide }: Gateway,
  signature: DkimSignature,
): Fix {
  const from = fromDomain(context);
  const isOwn = isOfFromDomain(context, signature.domain);
  const domain = isOwn || from === null ? signature.domain : from;
  const unchanged = `configure ${name} to leave signed mail unchanged, and add disclaimers and tags before ${signerOf(signature)} signs`;
  if (foreignOwner(domain) !== null) return { text: `${capitalized(unchanged)}.` };
  const text =
    place === 'before'
      ? `Sign as ${domain} after ${name}, on the last server before the internet. Or ${unchanged}.`
      : place === 'returns'
        ? `Route mail from ${name} back through the mail service of ${domain}, so that it signs last. Or ${unchanged}.`
        : `Sign last: in ${name}, ${place}, turn on DKIM for ${domain} and publish the key that it shows. Or ${unchanged}.`;
  return { text, guide: { name: `How to do this in ${name}`, url: guide } };
}
