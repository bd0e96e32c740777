/** `list_unsubscribe`: mail programs can show a reader of marketing mail a way out. */

import { type Check, type Context, type Finding, fail, pass, rfc, warn } from '../check.ts';
import { fromDomain } from '../infrastructure/sender-domains.ts';
import { absentField } from './absent-field.ts';
import { type ListUnsubscribe, listUnsubscribeField } from './list-unsubscribe-field.ts';
import { unlessMarketing } from './transactional.ts';

/**
 * What is usable but not well formed warns: most programs read it, not all. The fix always names
 * both fields, so that with it `one_click` is cured as well. Nothing is ever called.
 */
export const listUnsubscribeCheck: Check = {
  id: 'list_unsubscribe',
  category: 'compliance',
  points: 4,
  label: 'List-Unsubscribe',
  reference: rfc(2369, '3.2'),
  run(context) {
    const other = unlessMarketing(context, 'List-Unsubscribe was not looked for.');
    if (other) return other;
    const found = context.fact(listUnsubscribeField);
    if (found.values.length === 0)
      return absentField(context.message, 'List-Unsubscribe', {
        ...ABSENT,
        fix: oneClickFix(context, 'Add these two fields'),
      });
    return { ...judge(context, found), evidence: evidenceOf(found) };
  },
};

const ABSENT = {
  title: 'Your message has no List-Unsubscribe field.',
  detail:
    'Gmail, Yahoo and others show an unsubscribe button from it. Readers who find none press the spam button instead, which harms all of your mail.',
};

/** The two fields that RFC 8058 asks for, written out for the sender's own domain. */
export function oneClickFix(context: Context, lead: string): string {
  const domain = fromDomain(context) ?? 'example.com';
  return `${lead}, with an address of your own that tells the reader and the list apart, and have the DKIM signer sign both: "List-Unsubscribe: <https://${domain}/unsubscribe/TOKEN>, <mailto:unsubscribe@${domain}?subject=TOKEN>" and "List-Unsubscribe-Post: List-Unsubscribe=One-Click".`;
}

function evidenceOf({ values, https, http, mailto, problem }: ListUnsubscribe) {
  const shown = (list: string[]) => list.slice(0, 5).map((text) => text.slice(0, 500));
  return {
    values: shown(values),
    https: shown(https),
    mailto: shown(mailto),
    http: shown(http),
    ...(problem && { problem: `It ${problem}.` }),
  };
}

function judge(context: Context, found: ListUnsubscribe): Finding {
  const { values, https, http, mailto, problem } = found;
  const rewrite = oneClickFix(context, 'Write the two fields like this');
  if (https.length + http.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field cannot be used.',
      detail: `It ${problem ?? 'holds no web or mail address that can be opened'}. Mail programs show no unsubscribe button then.`,
      fix: rewrite,
    });
  if (values.length > 1)
    return warn({
      title: `Your message has ${values.length.toLocaleString('en')} List-Unsubscribe fields.`,
      detail:
        'Only one is allowed, and programs differ in which they take. Several addresses belong into one field, with commas between.',
      fix: 'Remove all List-Unsubscribe fields but one; look for a service that adds its own to the one you set.',
      reference: rfc(2369, '2'),
    });
  if (problem !== null)
    return warn({
      title: 'Your List-Unsubscribe field is not well formed.',
      detail: `It ${problem}. Some programs read what comes before that, others ignore the field.`,
      fix: rewrite,
    });
  if (https.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field has only an unencrypted address.',
      detail:
        'Its address begins with http. Mail programs use https and mailto addresses alone, so most show no unsubscribe button.',
      fix: rewrite,
    });
  return pass(
    `Your message has a List-Unsubscribe field with ${waysOut(found)}.`,
    'Mail programs can offer the reader to unsubscribe. The address was not called.',
  );
}

function waysOut({ https, mailto }: ListUnsubscribe): string {
  if (https.length === 0) return 'a mail address';
  return mailto.length === 0 ? 'a web address' : 'a web and a mail address';
}
