/**
 * Sends the files of a form one by one, chosen or dropped anywhere on the page, with a line for each that shows its
 * progress and what became of it. Without this script, the form sends them together.
 */

import { announce } from './announce.ts';

interface Uploaded {
  status: number;
  retryAfter: number;
  body: { data?: { id: string; status: string; detail: string | null }[]; detail?: string } | null;
}

/** A service that is busy says when to try again. */
const MAX_ATTEMPTS = 5;
const MAX_WAIT_S = 60;

const uploadForm = (): HTMLFormElement | null => document.querySelector('form[data-upload]');

/** Call it again when the page is shown again. */
export function startUploads(): void {
  const form = uploadForm();
  if (!form || form.dataset.started) return;
  form.dataset.started = 'yes';
  const input = form.querySelector<HTMLInputElement>('input[type="file"]')!;
  form.addEventListener('submit', (event) => {
    // The rest of the script treats forms that leave the page.
    event.preventDefault();
    event.stopPropagation();
    add(form, [...(input.files ?? [])]);
    input.value = '';
  });
  acceptDrops(form);
}

function acceptDrops(form: HTMLFormElement): void {
  const highlight = (isOver: boolean) => form.classList.toggle('dragging', isOver);
  document.addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    highlight(true);
  });
  document.addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) highlight(false);
  });
  document.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    highlight(false);
    add(form, files);
  });
}

interface Line {
  file: File;
  bar: HTMLProgressElement;
  state: HTMLElement;
}

const queue: Line[] = [];
let isSending = false;

function add(form: HTMLFormElement, files: File[]): void {
  const list = form.querySelector('.upload-lines') ?? form.appendChild(newList());
  for (const file of files) {
    const line = {
      file,
      bar: document.createElement('progress'),
      state: element('span', 'Waiting'),
    };
    const name = element('bdi', file.name);
    name.className = 'upload-name';
    line.bar.max = 1;
    line.bar.value = 0;
    line.bar.ariaLabel = `Upload of ${file.name}`;
    const item = document.createElement('li');
    item.append(name, line.bar, line.state);
    list.append(item);
    queue.push(line);
  }
  if (!isSending) void sendAll(form);
}

function newList(): HTMLElement {
  const list = document.createElement('ul');
  list.className = 'upload-lines';
  return list;
}

function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

async function sendAll(form: HTMLFormElement): Promise<void> {
  isSending = true;
  let [done, failed] = [0, 0];
  for (let line = queue.shift(); line; line = queue.shift()) {
    const isAccepted = await send(form, line);
    line.bar.remove();
    if (isAccepted) done += 1;
    else failed += 1;
  }
  isSending = false;
  announce(`Files with accepted reports: ${done}. Other files: ${failed}.`);
}

/** Whether a report of the file was accepted. */
async function send(form: HTMLFormElement, line: Line): Promise<boolean> {
  const { maxBytes, tooLarge = '', words = '{}' } = form.dataset;
  if (line.file.size > Number(maxBytes)) return fail(line, tooLarge);
  if (line.file.size === 0) return fail(line, 'The file is empty');
  // The form is at the path of the list, below the path of the service on its host.
  const url = form.action.replace(/\/feedback\/reports$/, '/v1/feedback/reports');
  for (let attempt = 1; ; attempt++) {
    const { status, retryAfter, body } = await post(url, line);
    if (status === 201 && body?.data) return show(form, line, body.data, JSON.parse(words));
    const isBusy = (status === 429 || status === 503) && attempt < MAX_ATTEMPTS;
    if (!isBusy) return fail(line, problemOf(status, body?.detail));
    line.state.textContent = 'The service is busy. Waiting';
    await new Promise((resolve) =>
      setTimeout(resolve, 1000 * Math.min(retryAfter || 1, MAX_WAIT_S)),
    );
  }
}

function problemOf(status: number, detail: string | undefined): string {
  if (status === 0) return 'The connection was lost. Upload the file again';
  if (status === 401) return 'Your session has ended. Sign in, then upload the file again';
  return detail ?? `The service responded with status ${status}`;
}

function fail(line: Line, text: string): boolean {
  line.state.textContent = text;
  line.state.className = 'wrong';
  return false;
}

function show(
  form: HTMLFormElement,
  { state }: Line,
  reports: NonNullable<NonNullable<Uploaded['body']>['data']>,
  words: Record<string, string>,
): boolean {
  state.replaceChildren(
    ...reports.flatMap(({ id, status, detail }, index) => {
      const link = document.createElement('a');
      link.href = `${form.action}/${id}`;
      link.textContent = words[status] ?? status;
      const why = status === 'refused' && detail ? `: ${detail}` : '';
      return [index > 0 ? ', ' : '', link, why];
    }),
  );
  return reports.some(({ status }) => status !== 'refused');
}

/** `fetch` does not tell the progress of an upload. Status 0: the connection was lost. */
function post(url: string, { file, bar, state }: Line): Promise<Uploaded> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.setRequestHeader('content-type', 'application/octet-stream');
    state.textContent = 'Uploading';
    request.upload.onprogress = ({ loaded, total }) => {
      bar.value = loaded / total;
      if (loaded === total) state.textContent = 'Reading';
    };
    request.onloadend = () =>
      resolve({
        status: request.status,
        retryAfter: Number(request.getResponseHeader('retry-after')),
        body: parse(request.responseText),
      });
    request.send(file);
  });
}

function parse(text: string): Uploaded['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
