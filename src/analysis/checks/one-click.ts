/** `one_click`: a reader of marketing mail can unsubscribe in the mail program, by one request (RFC 8058). */

import {
  absentField,
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  warn,
} from '../check.ts';
import { unlessMarketing } from '../kind.ts';
import { type ListUnsubscribe, listUnsubscribeField, oneClickFix } from './list-unsubscribe.ts';

const POST = 'List-Unsubscribe=One-Click';

/** Where List-Unsubscribe itself cannot be used, this follows from it. Nothing is ever called. */
export const oneClick: Check = {
  id: 'one_click',
  category: 'compliance',
  points: 5,
  label: 'One-click unsubscribe',
  issueTitle: 'One-click unsubscribe is missing or faulty',
  reference: rfc(8058, '3.1'),
  dependsOn: ['list_unsubscribe'],
  publicEvidence: { https: 'host', post: 'shown' },
  run(context) {
    const other = unlessMarketing(context, 'One-click unsubscribe was not looked for.');
    if (other) return other;
    const found = context.fact(listUnsubscribeField);
    const fix = oneClickFix(context, 'Write these two fields');
    const evidence = {
      https: found.https.slice(0, 5).map((uri) => uri.slice(0, 500)),
      post: found.post.slice(0, 5).map((value) => value.slice(0, 200)),
    };
    return { ...judge(context, found, fix), evidence };
  },
};

const WHY =
  'Gmail and Yahoo ask for it in marketing mail: their unsubscribe button sends one request to that address, without a page to open.';

function judge(context: Context, found: ListUnsubscribe, fix: string): Finding {
  const { values, https, mailto, post } = found;
  if (values.length === 0) {
    const title = 'One-click unsubscribe has no address: List-Unsubscribe is missing.';
    const absent = absentField(context.message, 'List-Unsubscribe', { title, detail: WHY, fix });
    return { ...absent, dependsOn: ['list_unsubscribe'] };
  }
  if (https.length === 0) {
    const unusable = mailto.length === 0;
    const missing = fail({
      title:
        'Your List-Unsubscribe field has no https address that can serve for one-click unsubscribe.',
      detail: `${WHY} Neither a mail address nor http can serve for it, nor an address without a public host name or with a user name in it.`,
      fix,
    });
    return unusable ? { ...missing, dependsOn: ['list_unsubscribe'] } : missing;
  }
  if (post.length === 0)
    return absentField(context.message, 'List-Unsubscribe-Post', {
      title: 'Your message has no List-Unsubscribe-Post field.',
      detail: WHY,
      fix,
    });
  return judgePost(post, fix) ?? judgeAddresses(found, fix);
}

function judgePost(post: string[], fix: string): Finding | null {
  const odd = post.find((value) => value !== POST);
  if (odd === undefined) {
    if (post.length === 1) return null;
    return warn({
      title: `Your message has ${post.length.toLocaleString('en')} List-Unsubscribe-Post fields.`,
      detail: 'The standard asks for one; some programs ignore doubled ones.',
      fix: 'Remove all List-Unsubscribe-Post fields but one.',
    });
  }
  const differs = odd.toLowerCase() === POST.toLowerCase() ? warn : fail;
  return differs({
    title: 'Your List-Unsubscribe-Post field does not say what it must.',
    detail: `It has to be "${POST}" to the letter, and says "${odd.slice(0, 100)}". Programs that find anything else offer no one-click unsubscribe.`,
    fix,
  });
}

function judgeAddresses({ https, http }: ListUnsubscribe, fix: string): Finding {
  if (https.length > 1 || http.length > 0)
    return warn({
      title: 'Your List-Unsubscribe field has more than one web address.',
      detail:
        'One-click unsubscribe asks for exactly one, an https address; programs differ in which of several they call.',
      fix,
    });
  return pass(
    'Your message offers one-click unsubscribe.',
    'Both fields are as RFC 8058 asks. The address was not called: try once yourself that a POST request to it unsubscribes.',
  );
}
