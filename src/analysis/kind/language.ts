/** Whether a text is in a language whose phrases are known, by its script, letters and most frequent words. */

import { isAscii, plainWords } from '../text.ts';

/** Scripts that show the language, or nearly so. */
const OWN_SCRIPT =
  /[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}\p{sc=Hangul}\p{sc=Thai}\p{sc=Greek}]/u;

/** Short words that nearly every sentence has, by language. */
const FREQUENT_WORDS: Record<string, string> = {
  en: 'the and of to is your you for this with our we are on it have that from be will can not at by or us in a i my me',
  de: 'der die das und ist sie ihr ihre ihnen für mit von wir nicht auf ein eine zu den dem im sich bei wie haben werden auch',
  fr: 'le la les et est vous votre vos pour avec dans sur nous une des du que qui pas ce cette sont au aux de un à je on se j l d c qu n s ai',
  es: 'el la los las y es tu su para con en por una un que del se no más lo al te ha de nos',
  it: 'il lo la gli e è per con una un di che del della nel sono tuo tua ti non si alle più ha dei ci i le a in ho ai l dell da',
  nl: 'de het een en is van je jouw uw voor met op te dat niet wij we zijn als aan bij om ook',
  pt: 'o a os as e é seu sua para com em uma um que do da no na não se dos das ao por de às até nos vou à em mais',
  pl: 'i w z na do jest się nie że to dla twoje twój od po o za ze jak lub przez',
  sv: 'och att det är en ett på för med din ditt vi du av till inte som har om den kan så nu alla från jag vi oss',
  ro: 'și în la de pe cu este sunt pentru un o din să nu ai mai te îți care al',
  cs: 'a v na je se s pro že z do vaše váš jsme není ve od si o po nebo',
  hu: 'a az és egy hogy nem van meg is csak ha vagy mert kell még',
  vi: 'của và là bạn cho có với trong được không này các một đến chúng tôi khi tại',
  id: 'dan yang di untuk anda dengan dari ini kami ke akan atau pada tidak dalam saat kita saya sudah jam apakah juga ada sampai',
  tr: 've bir bu için ile siz sizin de da size hesabınız olarak daha çok en biz',
  ru: 'и в на не с что вы ваш ваша для по это мы к от из вас если как',
  uk: 'і в на не з що ви ваш ваша для по це ми до від та вас якщо як у',
  ar: 'في من على إلى هذا هذه أن ما عن مع التي الذي كان لا أو هو هي',
  fa: 'و در به از که این را با است برای شما های می آن یک تا',
  hi: 'है के में की से को और का पर हैं यह आपका आपके लिए हम नहीं कर',
};

/** Letters that only a language with phrases has, among those that are common in mail. They show inflected words, which few frequent ones accompany. */
const OWN_LETTERS = /[łżśńğıěřůőűțţїєґыэةإأىپچژگąęạảấầẩậắằặẹẻếềểễệỉịọỏốồổộớờởợụủứừửữựỳơư]/iu;
/** Letters of languages without phrases that otherwise look like one with them: Azerbaijani, Belarusian, Kazakh, Lithuanian, Urdu and others. */
const FOREIGN_LETTERS = /[əўқғәңөұһėįųūļķņģēāōţľĺŕðþæøٹڈڑےہںټځڼېەۆێ]/iu;

/** Neighbours of these languages that have no phrases. */
const NEIGHBOURS: Record<string, string> = {
  da: 'og at er det ikke til af på for du dig din dit vi med som har om den kan en et os jeg',
  no: 'og å er det ikke til av på for du deg din ditt vi med som har om den kan en et oss jeg',
  ca: 'el la els les i és et per amb una un que del no més al us de nos aquest teu són els ja l d a en',
  sr: 'и у на је се да за су не са од вас ваш ваша што ће сте нас како или по',
  bg: 'и в на не с че вие вашата ви за по това от да се е са ще до как или',
  fi: 'ja on ei että se sen voit sinun sinulle jos kun tai mutta myös nyt olet meille ovat joka tämä asiakas hei',
  et: 'ja on ei et see seda kui sa te teie või ka meie nüüd oma mis tere',
  sk: 'a v na je sa s pre že z do vaša váš som nie ste od si o po alebo čo ak',
  tl: 'ang ng mga sa na at iyong ka mo ay po para ito kung hindi namin',
  hr: 'i u na je se da za su ne s od vas vaš vaša što će ste nas kako ili po',
};

const KNOWN = Object.values(FREQUENT_WORDS);
const LANGUAGES = [...KNOWN, ...Object.values(NEIGHBOURS)];

/** The languages that have a word, by number, by the word as `plainWords` writes it. */
const LANGUAGES_BY_WORD = new Map<string, number[]>();
for (const [index, words] of LANGUAGES.entries())
  for (const word of new Set(plainWords(words, words.length).trim().split(' ')))
    LANGUAGES_BY_WORD.set(word, [...(LANGUAGES_BY_WORD.get(word) ?? []), index]);

/** With fewer words, the language of a text cannot be told. */
const MIN_WORDS = 12;
const MAX_LENGTH = 8000;
/** A text in a known language has at least this share of its frequent words and own letters. */
const MIN_SHARE = 0.06;

/** Whether the language has phrases; null if the text is too short to tell. */
export function isLanguageKnown(text: string): boolean | null {
  const start = text.slice(0, MAX_LENGTH);
  const raw = start.match(WORD_WITH_LETTER) ?? [];
  // No letter of ASCII is one of those below.
  const shareOf = isAscii(start)
    ? () => 0
    : (letters: RegExp) =>
        raw.filter((word) => letters.test(word)).length / Math.max(raw.length, 1);
  if (shareOf(OWN_SCRIPT) > 0.25) return true;
  if (raw.length < MIN_WORDS) return null;
  const shares = sharesOfLanguages(plainWords(start, MAX_LENGTH));
  const known = Math.max(...shares.slice(0, KNOWN.length)) + shareOf(OWN_LETTERS);
  const unknown = Math.max(...shares.slice(KNOWN.length)) + shareOf(FOREIGN_LETTERS);
  return known - shareOf(FOREIGN_LETTERS) >= MIN_SHARE && known >= unknown;
}

const LETTER = /\p{L}/u;
/** A whole word, as white space separates them. */
const WORD_WITH_LETTER = /(?<!\S)[^\s\p{L}]*\p{L}\S*/gu;

/** The share of the words that each language has. */
function sharesOfLanguages(text: string): number[] {
  const counts = LANGUAGES.map(() => 0);
  let total = 0;
  for (const word of text.split(' ')) {
    const languages = LANGUAGES_BY_WORD.get(word);
    if (languages) for (const language of languages) counts[language]! += 1;
    if (languages || LETTER.test(word)) total += 1;
  }
  return counts.map((count) => count / Math.max(total, 1));
}
