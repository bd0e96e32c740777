/** The kinds of mail, in words. */

export const KIND_WORDS = {
  auto: 'Detect from the message',
  marketing: 'Marketing',
  transactional: 'Transactional',
};
