/**
 * Keeps what was typed into a form until the service has accepted the form. If the session ends first, or the form ends
 * with an error page, a link leads back to the page of the form, with what was typed still there. The draft never
 * leaves the tab. It contains no secrets and no files, and only the same member gets it back.
 */

const KEY = 'draft';
/** Browsers store about five million characters. A pasted message can be longer. */
const MAX_LENGTH = 2_000_000;
/** Later, another person may sit at the screen. */
const MAX_AGE_MS = 60 * 60_000;

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

interface Draft {
  member: string;
  /** The page of the form: its path and query. */
  page: string;
  action: string;
  /** None once the service has accepted the form. */
  fields: [name: string, value: string][];
  /** Kinds of fields that the draft leaves out. */
  missing: ('file' | 'password' | 'secret' | 'long')[];
  savedAt: number;
  /** Whether the service did not accept the form, or never got it. */
  isUnsent: boolean;
}

const currentPage = (): string => location.pathname + location.search;
const currentMember = (): string | undefined =>
  document.querySelector<HTMLElement>('[data-member]')?.dataset.member;

/** To be called before a form is sent, or before its page is left because the session has ended. */
export function saveDraft(form: HTMLFormElement, { isUnsent = false } = {}): void {
  const member = currentMember();
  if (member === undefined) return;
  const action = form.action;
  const previous = readDraft();
  // A form with errors is shown at its action, where it cannot be opened.
  const page =
    previous?.action === action && new URL(action).pathname === location.pathname
      ? previous.page
      : currentPage();
  const missing = missingKinds(form);
  const fields = fieldsOf(form);
  const draft: Draft = { member, page, action, fields, missing, savedAt: Date.now(), isUnsent };
  if (JSON.stringify(draft).length > MAX_LENGTH) {
    draft.fields = fields.filter(([, value]) => value.length < MAX_LENGTH / 100);
    missing.push('long');
  }
  writeDraft(draft);
}

/** Saves the first form of the page that was changed, but not sent. */
export function saveUnsentForm(): void {
  const changed = [...document.forms].find(
    (form) => form.method === 'post' && controlsOf(form).some(isChanged),
  );
  if (changed) saveDraft(changed, { isUnsent: true });
}

export function deleteDraft(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {}
}

/** Restores a draft on the page of its form. Other pages mean that the last form was accepted. */
export function restoreDraft(): void {
  const draft = readDraft();
  if (!draft || currentMember() === undefined) return;
  const isTooOld = Date.now() - draft.savedAt > MAX_AGE_MS;
  if (draft.member !== currentMember() || isTooOld) deleteDraft();
  else if (draft.isUnsent) restore(draft);
  else writeDraft({ ...draft, fields: [] });
}

/** A draft without its form is kept, because the member may open another page first. */
function restore(draft: Draft): void {
  const form = [...document.forms].find(
    (each) => each.action === draft.action && controlsOf(each).length > 0,
  );
  if (!form && draft.fields.length > 0) return;
  deleteDraft();
  if (!form || draft.fields.length === 0) return;
  fill(form, draft.fields);
  for (let fold = form.closest('details'); fold; fold = fold.parentElement!.closest('details'))
    fold.open = true;
  showNotice(form, draft.missing);
}

/** Makes the link on an error page lead back to the form. */
export function linkToDraft(link: HTMLAnchorElement): void {
  const draft = readDraft();
  if (!draft) return;
  writeDraft({ ...draft, isUnsent: true });
  link.href = draft.page;
}

/** Makes sign-in on the page of an ended session lead back to the form. */
export function returnToDraft(signIn: HTMLFormElement): void {
  const draft = readDraft();
  if (!draft) return;
  writeDraft({ ...draft, isUnsent: true });
  // The sign-in page names paths without the path of the service on its host.
  const base = new URL(signIn.action).pathname.replace(/\/sign-in$/, '');
  const next = encodeURIComponent(draft.page.slice(base.length));
  signIn.action = `${base}/sign-in?next=${next}`;
  const provider = document.querySelector<HTMLAnchorElement>('a[href*="/sign-in/oidc"]');
  if (provider) provider.href = `${base}/sign-in/oidc?next=${next}`;
}

/** Fields that a person fills in. */
const controlsOf = (form: HTMLFormElement): Control[] =>
  [...form.elements].filter(
    (control): control is Control =>
      (control instanceof HTMLTextAreaElement ||
        control instanceof HTMLSelectElement ||
        (control instanceof HTMLInputElement &&
          !['hidden', 'submit', 'password', 'file'].includes(control.type))) &&
      control.name !== '' &&
      !('secret' in control.dataset),
  );

function isChanged(control: Control): boolean {
  if (control instanceof HTMLSelectElement)
    return [...control.options].some((option) => option.selected !== option.defaultSelected);
  if (control instanceof HTMLInputElement && ['checkbox', 'radio'].includes(control.type))
    return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
}

const UNSAVED = { file: '[type="file"]', password: '[type="password"]', secret: '[data-secret]' };

const missingKinds = (form: HTMLFormElement): Draft['missing'] =>
  (['file', 'password', 'secret'] as const).filter((kind) =>
    [...form.querySelectorAll<HTMLInputElement>(`input${UNSAVED[kind]}`)].some(
      ({ value }) => value !== '',
    ),
  );

/** Includes the version that the form edits, so that it overwrites no later change. */
function fieldsOf(form: HTMLFormElement): [string, string][] {
  const names = new Set([...controlsOf(form).map(({ name }) => name), 'version']);
  return [...new FormData(form)].filter(
    (field): field is [string, string] => names.has(field[0]) && typeof field[1] === 'string',
  );
}

function fill(form: HTMLFormElement, fields: [string, string][]): void {
  const version = form.querySelector<HTMLInputElement>('input[type="hidden"][name="version"]');
  const controls: Control[] = version ? [...controlsOf(form), version] : controlsOf(form);
  const left = [...fields];
  for (const control of controls) {
    const isChoice =
      control instanceof HTMLInputElement && ['checkbox', 'radio'].includes(control.type);
    const index = left.findIndex(
      ([name, value]) => name === control.name && (!isChoice || value === control.value),
    );
    if (isChoice) control.checked = index >= 0;
    else if (index >= 0) control.value = left[index]![1];
    if (index >= 0) left.splice(index, 1);
  }
}

const MISSING_TEXTS = {
  file: ' Choose the file again.',
  password: ' Enter the password again.',
  secret: ' Enter secrets, such as a Slack URL, again.',
  long: ' A text was too long to keep.',
};

function showNotice(form: HTMLFormElement, missing: Draft['missing']): void {
  const notice = document.createElement('div');
  notice.className = 'notice info';
  notice.role = 'status';
  notice.tabIndex = -1;
  const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  icon.setAttribute('class', 'icon');
  icon.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', '#icon-info');
  icon.append(use);
  const text = document.createElement('p');
  text.textContent = `This was not saved. What you entered is back: check it, then send it again.${missing.map((kind) => MISSING_TEXTS[kind]).join('')}`;
  notice.append(icon, text);
  form.prepend(notice);
  notice.focus();
}

/** Some browsers deny the storage, or have no space left. */
function writeDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    deleteDraft();
  }
}

function readDraft(): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
  } catch {
    return null;
  }
}
