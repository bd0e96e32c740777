/**
 * After sign-out, "back" must not show a private page again. Browsers keep complete pages for "back", whatever their
 * caching policy, so such a page loads itself again, which leads to the sign-in page. Other tabs do the same at once.
 * If the session has ended by itself, they keep what was typed for the same member.
 */

import { deleteDraft, linkToDraft, restoreDraft, returnToDraft, saveUnsentForm } from './drafts.ts';

const KEY = 'signed-out-at';
/** After the time, if the member has ended the session. */
const ON_PURPOSE = ' on purpose';

/** Its attribute says how the session has ended; pages have one only without a session. */
const signInForm = (): HTMLFormElement | null => document.querySelector('form[data-sign-in]');
const isMemberPage = (): boolean => document.querySelector('.app') !== null;

/** To be called whenever a page is shown. */
export function checkSession(): void {
  const form = signInForm();
  const backToForm = document.querySelector<HTMLAnchorElement>('a[data-back-to-form]');
  if (form) {
    const { signIn } = form.dataset;
    if (signIn === 'on-purpose') deleteDraft();
    if (signIn === 'ended') returnToDraft(form);
    markSignedOut(signIn === 'on-purpose');
  } else if (isMemberPage() && isOlderThanSignOut()) leave();
  else if (backToForm) linkToDraft(backToForm);
  else restoreDraft();
}

addEventListener('storage', ({ key }) => {
  if (key === KEY && isMemberPage() && isOlderThanSignOut()) leave();
});

/** Some browsers deny the storage. */
function markSignedOut(isOnPurpose: boolean): void {
  try {
    localStorage.setItem(KEY, `${Date.now()}${isOnPurpose ? ON_PURPOSE : ''}`);
  } catch {}
}

const lastSignOut = (): string => localStorage.getItem(KEY) ?? '';

/** A time in the future is from before the clock was set back: it would make new pages load again forever. */
function isOlderThanSignOut(): boolean {
  try {
    const signedOutAt = Number.parseInt(lastSignOut(), 10);
    return signedOutAt > performance.timeOrigin && signedOutAt <= Date.now();
  } catch {
    return false;
  }
}

function leave(): void {
  if (lastSignOut().endsWith(ON_PURPOSE)) deleteDraft();
  else saveUnsentForm();
  document.body.hidden = true;
  location.reload();
}
