/** `one_click`: email clients can unsubscribe recipients of marketing mail with one request (RFC 8058). */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  missingField,
  pass,
  rfc,
  warn,
} from '../check.ts';
import { skipUnlessMarketing } from '../kind.ts';
import { type ListUnsubscribe, listUnsubscribeField, oneClickFix } from './list-unsubscribe.ts';

const POST = 'List-Unsubscribe=One-Click';

/** Depends on a usable List-Unsubscribe field. The address is never requested. */
export const oneClick: Check = {
  id: 'one_click',
  category: 'compliance',
  points: 5,
  label: 'One-click unsubscribe',
  issueTitle: 'One-click unsubscribe is missing or invalid',
  reference: rfc(8058, '3.1'),
  dependsOn: ['list_unsubscribe'],
  publicEvidence: { https: 'host', post: 'shown' },
  run(context) {
    const other = skipUnlessMarketing(context, 'One-click unsubscribe was not checked.');
    if (other) return other;
    const found = context.fact(listUnsubscribeField);
    const fix = oneClickFix(context, 'Use these two fields');
    const evidence = {
      https: found.https.slice(0, 5).map((uri) => uri.slice(0, 500)),
      post: found.post.slice(0, 5).map((value) => value.slice(0, 200)),
    };
    return { ...evaluateFields(context, found, fix), evidence };
  },
};

const WHY =
  'Gmail and Yahoo require one-click unsubscribe in marketing mail. Their unsubscribe button sends one request without opening a page.';

function evaluateFields(context: Context, found: ListUnsubscribe, fix: string): Finding {
  const { values, https, mailto, post } = found;
  if (values.length === 0) {
    const title = 'One-click unsubscribe has no address: the List-Unsubscribe field is missing.';
    const absent = missingField(context.message, 'List-Unsubscribe', { title, detail: WHY, fix });
    return { ...absent, dependsOn: ['list_unsubscribe'] };
  }
  if (https.length === 0) {
    const unusable = mailto.length === 0;
    const missing = fail({
      title: 'Your List-Unsubscribe field has no https address for one-click unsubscribe.',
      detail: `${WHY} The address must use https, with a public host name and no user name. Email and http addresses do not work.`,
      fix,
    });
    return unusable ? { ...missing, dependsOn: ['list_unsubscribe'] } : missing;
  }
  if (post.length === 0)
    return missingField(context.message, 'List-Unsubscribe-Post', {
      title: 'Your message has no List-Unsubscribe-Post field.',
      detail: WHY,
      fix,
    });
  return postProblem(post, fix) ?? evaluateAddresses(found, fix);
}

function postProblem(post: string[], fix: string): Finding | null {
  const wrong = post.find((value) => value !== POST);
  if (wrong === undefined) {
    if (post.length === 1) return null;
    return warn({
      title: `Your message has ${post.length.toLocaleString('en')} List-Unsubscribe-Post fields.`,
      detail: 'The standard allows only one, and some email clients ignore duplicates.',
      fix: 'Keep only one List-Unsubscribe-Post field.',
    });
  }
  const problem = wrong.toLowerCase() === POST.toLowerCase() ? warn : fail;
  return problem({
    title: 'Your List-Unsubscribe-Post field has the wrong value.',
    detail: `It must be exactly "${POST}", but it is "${wrong.slice(0, 100)}". Email clients do not offer one-click unsubscribe for any other value.`,
    fix,
  });
}

function evaluateAddresses({ https, http }: ListUnsubscribe, fix: string): Finding {
  if (https.length > 1 || http.length > 0)
    return warn({
      title: 'Your List-Unsubscribe field has more than one web address.',
      detail:
        'One-click unsubscribe needs exactly one https address. Email clients differ in which of several they use.',
      fix,
    });
  return pass(
    'Your message offers one-click unsubscribe.',
    'Both fields follow RFC 8058. This service did not test the address, so check that a POST request to it unsubscribes.',
  );
}
