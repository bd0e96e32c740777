/** Link texts that do not say what the link is for, such as "click here". */

import { plainWords } from '../text.ts';

/** Longer texts are never generic. */
const MAX_LENGTH = 80;

const words = (text: string): Set<string> => new Set(plainWords(text, 5000).trim().split(' '));

/** Words that point at the link itself, or only answer the text before it. */
const POINTING = words(
  [
    'here click clicking tap press link page form button below following yes no ok okay continue go',
    'proceed start next open submit',
    'hier klick klicke klicken klicken link seite formular knopf schaltfläche folgenden weiter ja nein',
    'ici cliquez cliquer clic lien page formulaire bouton suivant continuer oui non',
    'aquí haz haga pulsa pulse enlace página formulario botón siguiente continuar sí',
    'aqui clique clicar página formulário botão continuar sim não',
    'qui clicca cliccare cliccando pagina modulo pulsante continua',
    'klik klikken link pagina formulier knop verder nee klicka här klikk klikke her länk länken lenken',
    'knapp tutaj kliknij link zde klikněte klepněte odkaz kattintson ide aici link tıklayın buraya burada',
    'tästä tässä klikkaa здесь тут сюда нажмите ссылка ссылке ссылку натисніть εδώ κλικ σύνδεσμο',
  ].join(' '),
);

/** Words that often accompany them. */
const FILLER = words(
  [
    'a an the this that our your please just simply by on at to of now use using follow visit with and',
    'bitte auf der die das den dem diese diesen diesem dieser Sie einfach jetzt folgen nutzen über zur zum',
    'sur le la ce cette de en s il vous plaît merci suivez maintenant',
    'el en este esta de por favor siga use ahora o neste nesta agora questo questa il su per ora',
    'op deze dit op den det på denna denne ten tę w na sem szólj эту этой по на перейдите',
  ].join(' '),
);

const POINTING_ANYWHERE = /こちら|ここ|クリック|这里|這裡|点击|點擊|链接|여기|클릭|링크|هنا|כאן|ที่นี่/;
// Without marks, like the words that `plainWords` returns.
const POINTING_NORMALIZED = new RegExp(
  plainWords(POINTING_ANYWHERE.source.replaceAll('|', ' '), 500).trim().replaceAll(' ', '|'),
);

const isPointing = (word: string): boolean =>
  POINTING.has(word) || (word.length <= 20 && POINTING_NORMALIZED.test(word));

/** Whether the text has only words that point at the link, or only symbols: `Click here`, `→`. */
export function isGenericText(text: string): boolean {
  if (text.length > MAX_LENGTH || text.trim() === '') return false;
  const normalizedWords = wordsOf(text);
  return (
    normalizedWords.every((word) => isPointing(word) || FILLER.has(word)) &&
    (normalizedWords.length === 0 || normalizedWords.some(isPointing))
  );
}

/** Whether only the text around the link says what it is for: `use this form`, a URL, or no text. */
export function dependsOnContext(text: string): boolean {
  const start = text.slice(0, 2 * MAX_LENGTH).trim();
  if (isUrlText(start)) return true;
  if (start.length > MAX_LENGTH) return false;
  const normalizedWords = wordsOf(start);
  return normalizedWords.length === 0 || normalizedWords.some(isPointing);
}

/** Whether the text is a URL and nothing else. */
export function isUrlText(text: string): boolean {
  return /^[<(]?(?:https?:\/\/|www\.|\S{1,100}\.\p{L})\S*$/iu.test(text.trim());
}

function wordsOf(text: string): string[] {
  const normalized = plainWords(text, 2 * MAX_LENGTH).trim();
  return normalized === '' ? [] : normalized.split(' ');
}
