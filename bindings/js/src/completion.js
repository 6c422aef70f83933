// Answers in the shapes of OpenAI's chat completions.
const REASON = { eos: 'stop', stop: 'stop', length: 'length', cancelled: 'cancelled' };

function head(kind, name, number) {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${created}-${number}`, object: kind, created, model: name };
}

/** One answer, {text, tokens, finish, stats}. */
export function completion({ text, tokens, finish, fingerprint, stats }, name, number) {
  const prompt = stats.reusedTokens + stats.prefillTokens;
  return {
    ...head('chat.completion', name, number),
    choices: [{ index: 0, message: { role: 'assistant', content: text }, logprobs: null,
      finish_reason: REASON[finish] }],
    usage: { prompt_tokens: prompt, completion_tokens: tokens.length,
      total_tokens: prompt + tokens.length },
    system_fingerprint: fingerprint,
  };
}

/** The same piece by piece: the role, the text, and why it ended. */
export async function* chunks(pieces, name, number) {
  const first = head('chat.completion.chunk', name, number);
  const chunk = (delta, reason = null) =>
    ({ ...first, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  yield chunk({ role: 'assistant' });
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return void (yield chunk({}, REASON[value.finish]));
      yield chunk({ content: value });
    }
  } finally {
    await pieces.return();
  }
}
