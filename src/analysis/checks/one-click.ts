/** `one_click`: email clients can unsubscribe recipients of marketing mail with one request (RFC 8058). */

import { type Check, type Finding, fail, missingField, pass, rfc, warn } from '../check.ts';
import { skipForwarded } from '../forwarding/explain.ts';
import { skipUnlessMarketing } from '../kind.ts';
import { type ListUnsubscribe, listUnsubscribeField, oneClickFix } from './list-unsubscribe.ts';

export const ONE_CLICK_VALUE = 'List-Unsubscribe=One-Click';

/** Depends on a usable List-Unsubscribe field. The address is never requested. */
export const oneClick: Check = {
  id: 'one_click',
  category: 'compliance',
  points: 5,
  label: 'One-click unsubscribe',
  issueTitle: 'One-click unsubscribe is missing or invalid',
  reference: rfc(8058, '3.1'),
  dependsOn: ['list_unsubscribe'],
  dependsOnKind: true,
  publicEvidence: { https: 'host', post: 'shown' },
  run(context) {
    const title = 'One-click unsubscribe was not checked.';
    const skipFinding = skipForwarded(context, title) ?? skipUnlessMarketing(context, title);
    if (skipFinding) return skipFinding;
    const unsubscribeFields = context.fact(listUnsubscribeField);
    const fix = oneClickFix(context, 'Use these two fields');
    const evidence = {
      https: unsubscribeFields.https.slice(0, 5).map((uri) => uri.slice(0, 500)),
      post: unsubscribeFields.post.slice(0, 5).map((value) => value.slice(0, 200)),
    };
    return { ...evaluateOneClick(context.message, unsubscribeFields, fix), evidence };
  },
};

const WHY =
  'Gmail requires one-click unsubscribe in marketing mail, and Yahoo recommends it. Their unsubscribe button sends one request without opening a page.';

/** Passes if the two fields follow RFC 8058 §3.1. */
export function evaluateOneClick(
  message: Parameters<typeof missingField>[0],
  unsubscribeFields: ListUnsubscribe,
  fix: string,
): Finding {
  const { values, https, mailto, post, unfilled } = unsubscribeFields;
  if (values.length === 0) {
    const title = 'One-click unsubscribe has no address: the List-Unsubscribe field is missing.';
    const absent = missingField(message, 'List-Unsubscribe', { title, detail: WHY, fix });
    return { ...absent, dependsOn: ['list_unsubscribe'] };
  }
  if (https.length === 0) {
    const isUnusable = mailto.length === 0;
    const finding = fail({
      title: 'Your List-Unsubscribe field has no https address for one-click unsubscribe.',
      detail: `${WHY} The address must use https, with a public host name and no user name. Email and http addresses do not work.`,
      fix,
    });
    return isUnusable ? { ...finding, dependsOn: ['list_unsubscribe'] } : finding;
  }
  if (unfilled.length > 0)
    return {
      ...fail({
        title: `The address for one-click unsubscribe contains an unfilled merge tag: ${unfilled[0]!.slice(0, 60)}.`,
        detail: WHY,
        fix,
      }),
      dependsOn: ['list_unsubscribe'],
    };
  if (post.length === 0)
    return missingField(message, 'List-Unsubscribe-Post', {
      title: 'Your message has no List-Unsubscribe-Post field.',
      detail: WHY,
      fix,
    });
  return postProblem(post, fix) ?? evaluateAddresses(unsubscribeFields, fix);
}

function postProblem(post: string[], fix: string): Finding | null {
  const invalidValue = post.find((value) => value !== ONE_CLICK_VALUE);
  if (invalidValue === undefined) {
    if (post.length === 1) return null;
    return warn({
      title: `Your message has ${post.length.toLocaleString('en')} List-Unsubscribe-Post fields.`,
      detail: 'The standard allows only one, and some email clients ignore duplicates.',
      fix: 'Keep only one List-Unsubscribe-Post field.',
    });
  }
  const createFinding = invalidValue.toLowerCase() === ONE_CLICK_VALUE.toLowerCase() ? warn : fail;
  return createFinding({
    title: 'Your List-Unsubscribe-Post field has the wrong value.',
    detail: `It must be exactly "${ONE_CLICK_VALUE}", but it is "${invalidValue.slice(0, 100)}". Email clients do not offer one-click unsubscribe for any other value.`,
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
