/** Findings for forwarded mail: they name the server that changed the message, and do not blame its author. */

import { type Context, type Finding, type Fix, info, skipped } from '../check.ts';
import { hasValidChain } from '../checks/arc.ts';
import { type Explanation, keyRecordFix } from '../dkim/failures.ts';
import { type DkimCause, type DkimSignature, isFromDomainSignature } from '../dkim/outcome.ts';
import { fields } from '../mime/message.ts';
import { forwardingChanges } from './changes.ts';
import { type Change, type Forwarding, forwarding, isSameOrganization } from './forwarding.ts';
import { explainGatewayChange } from './gateway-change.ts';
import { relayedBy } from './relayed.ts';

/** "the mailing list lists.example", "example.net" or "a forwarding server". */
export function forwarderName({ kind, by }: Forwarding): string {
  if (kind === 'list') return by === null ? 'a mailing list' : `the mailing list ${by}`;
  return by ?? 'a forwarding server';
}

/** For the beginning of a sentence. A domain keeps its lower case. */
const leadingName = (found: Forwarding): string =>
  forwarderName(found).replace(/^(?:a|the)\b/, (article) => (article === 'a' ? 'A' : 'The'));

/** A sentence for findings about a forwarded copy. */
export const copyNote = (found: Forwarding): string =>
  `Passed on by ${forwarderName(found)}: the results are those of the forwarded copy.`;

const CHANGES: Record<Change, string> = {
  subject: 'a tag in the subject',
  body: 'a changed body',
  from: 'a rewritten From field',
  header: 'a changed header field',
};

const LIST = new Intl.ListFormat('en-GB');

/** The changes as a clause: "a tag in the subject and a changed body"; empty for none. */
export const changesText = (changes: Change[]): string =>
  LIST.format(changes.map((change) => CHANGES[change]));

/** A change after signing causes these failures; the author can fix all others. */
const CHANGED_IN_TRANSIT: (DkimCause | null)[] = [
  'body_changed',
  'header_changed',
  'bad_signature',
];

/** Explains a signature that a list, forwarder or gateway broke; null if the signer is the cause. */
export async function explainChangedCopy(
  context: Context,
  signature: DkimSignature,
): Promise<Explanation | null> {
  const found = context.fact(forwarding);
  if (!CHANGED_IN_TRANSIT.includes(signature.cause)) return null;
  if (found.kind === 'direct') return explainGatewayChange(context, signature);
  // The forwarder broke its own signature, which it can fix as any signer.
  if (isSameOrganization(signature.domain, found.by)) return null;
  const changes = changesText(await context.fact(forwardingChanges));
  const shows = changes === '' ? '' : ` The copy shows ${changes}.`;
  return {
    title: `${leadingName(found)} changed the message, so the signature by ${signature.domain} does not verify.`,
    detail: `${copyNote(found)}${shows} A signature verifies only while the message stays as it was signed.`,
    fix: await changedCopyFix(context),
  };
}

/** What the list or forwarder can do. The author has nothing to change. */
export async function changedCopyFix(context: Context): Promise<string> {
  const found = context.fact(forwarding);
  if (await context.fact(hasValidChain))
    return `You have nothing to fix as the author: ${forwarderName(found)} changed the message and sealed it with a valid ARC chain. Mailbox providers that trust the seal, such as Gmail and Microsoft, can use the results from before the change.`;
  const admin = found.by === null ? 'Its administrator' : `The administrator of ${found.by}`;
  if (found.kind === 'list')
    return `You have nothing to fix as the author: the mailing list changed the message. ${admin} can turn off subject tags and footers. Or the list can put its own address in From, sign with DKIM, and seal with ARC.`;
  return `You have nothing to fix as the author: the forwarding server changed the message. ${admin} can forward it unchanged, without subject tags, banners or footers, and seal it with ARC. To check your own setup, send to an address that is not forwarded.`;
}

// SPF.

interface SpfFailure {
  result: string | null;
  domain: string | null;
  clientIp: string | null;
}

/** Explains an SPF failure of a forwarded copy; null if the message came directly. */
export async function explainForwardedSpf(
  context: Context,
  { result, domain, clientIp }: SpfFailure,
): Promise<{ title: string; detail: string; fix: Fix } | null> {
  const found = context.fact(forwarding);
  if (domain === null || result === 'permerror') return null;
  if (found.kind === 'direct') {
    const relay = await context.fact(relayedBy);
    return relay === null ? null : explainRelayedSpf(relay, domain);
  }
  const name = forwarderName(found);
  if (isSameOrganization(domain, found.by))
    return {
      title: `The SPF record of ${domain} does not allow ${clientIp}, which passed the message on.`,
      detail: `The envelope sender belongs to ${name}, not to the author. ${copyNote(found)}`,
      fix: {
        text: `You have nothing to fix as the author. The administrator of ${domain} must allow the server that forwards the message in the SPF record of ${domain}.`,
      },
    };
  const missing = result === 'none' ? ` ${domain} has no SPF record, either.` : '';
  return {
    title: `SPF does not pass, because ${name} passed the message on with an envelope sender at ${domain}.`,
    detail: `SPF allows only your own servers, so it always breaks when a server forwards mail this way. ${copyNote(found)}${missing}`,
    fix: {
      text: `Do not add the forwarding server to your SPF record. ${
        found.by === null ? 'Its administrator' : `The administrator of ${found.by}`
      } can forward under an own envelope sender (SRS). Sign with DKIM, which survives forwarding.`,
    },
  };
}

/** The only sign is the delivery path, so the fix also names the case of a relay that the author uses. */
const explainRelayedSpf = (relay: string, domain: string) => ({
  title: `SPF does not pass, because ${relay} passed the message on with your envelope sender at ${domain}.`,
  detail: `SPF allows only your own servers, so it always breaks when a server forwards mail this way. Your DKIM signature is valid, so the message still passes DMARC.`,
  fix: {
    text: `You have nothing to fix: do not add a forwarding server to your SPF record. Only if you send through ${relay} yourself, add the include that it tells its customers.`,
  },
});

/** The envelope sender of a forwarded copy belongs to the forwarder, as it should; null if direct. */
export function forwardedAlignment(
  context: Context,
  envelopeDomain: string,
  evidence: Finding['evidence'],
): Finding | null {
  const found = context.fact(forwarding);
  if (found.kind === 'direct') return null;
  return info(
    `SPF checks ${envelopeDomain}, because ${forwarderName(found)} passed the message on.`,
    'A list or forwarder uses its own envelope sender, so that bounces reach it. Only DKIM can authenticate forwarded mail for the domain in From.',
    evidence,
  );
}

// DKIM and DMARC.

/** For a message that only the list or forwarder signed; null if the author's service may have signed. */
export function explainForwarderSignature(
  context: Context,
  signers: string[],
  from: string,
): Explanation | null {
  const found = context.fact(forwarding);
  if (found.kind === 'direct' || !signers.every((signer) => isSameOrganization(signer, found.by)))
    return null;
  return {
    title: `Only ${forwarderName(found)} signed the message, not ${from}.`,
    detail: `${copyNote(found)} Without a signature by ${from}, forwarded mail fails DMARC.`,
    fix: keyRecordFix(
      `Turn on DKIM signing for ${from} in your mail server or email service. Publish the key that it shows. The record shown here assumes the selector s1.`,
      `s1._domainkey.${from}`,
    ),
  };
}

/** The fix for DMARC after a list, forwarder or gateway broke a signature of the author; null if none did. */
export async function forwardedDmarcFix(
  context: Context,
  signatures: DkimSignature[],
): Promise<Explanation['fix'] | null> {
  const own = signatures.filter((signature) => isFromDomainSignature(context, signature));
  const explanations = await Promise.all(own.map((one) => explainChangedCopy(context, one)));
  return explanations.find((explanation) => explanation !== null)?.fix ?? null;
}

// Unsubscribing.

/**
 * The `skipped` finding of unsubscribe checks. A discussion list handles its own subscriptions, and a
 * forwarder is no reason to add an unsubscribe link. Explicit marketing mail is still checked.
 */
export function skipForwarded(context: Context, title: string): Finding | null {
  const found = context.fact(forwarding);
  if (found.kind === 'direct' || context.kind === 'marketing') return null;
  if (found.kind === 'list')
    return skipped(
      title,
      `Not checked: ${forwarderName(found)} sent the message, and it handles its own subscriptions.`,
    );
  if (fields(context.message, 'list-unsubscribe').length > 0) return null;
  return skipped(
    title,
    `Not checked: ${forwarderName(found)} forwarded the message, which has no List-Unsubscribe field.`,
  );
}
