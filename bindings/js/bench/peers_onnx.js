// transformers.js in a worker of peers_page.js: first {at, threads, dtype}, then {ids, tokens} for
// each run, answered with {prefill, decode} in milliseconds.
let model, Tensor;

async function load({ at, threads, dtype }) {
  const { AutoModelForCausalLM, Tensor: tensor, env } =
    await import(`${at}dist/transformers.js`);
  Tensor = tensor;
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.useBrowserCache = false;
  env.localModelPath = '/onnx/';
  const { wasm } = env.backends.onnx;
  wasm.numThreads = threads;
  for (const [kind, url] of Object.entries(wasm.wasmPaths)) // beside the build that it chose
    wasm.wasmPaths[kind] = new URL(`/ort/${url.split('/').pop()}`, location.href).href;
  model = await AutoModelForCausalLM.from_pretrained('model', { dtype, device: 'wasm' });
  return {};
}

async function run({ ids, tokens }) {
  const shape = [1, ids.length], times = [];
  const inputs = new Tensor('int64', BigInt64Array.from(ids, BigInt), shape);
  const attention_mask = new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape);
  const put = () => times.push(performance.now()); // the prompt, then each token
  const y = await model.generate({ inputs, attention_mask, max_new_tokens: tokens + 1,
    do_sample: false, streamer: { put, end() {} } });
  if (times.length !== tokens + 2 || y.dims[1] !== ids.length + tokens + 1)
    throw new Error(`transformers.js generated ${times.length - 1} tokens of ${tokens + 1}`);
  return { prefill: times[1] - times[0], decode: times.at(-1) - times[1] };
}

self.onmessage = async ({ data }) => {
  try {
    self.postMessage(await (data.ids ? run(data) : load(data)));
  } catch (e) {
    self.postMessage({ error: `${e.stack ?? e}` });
  }
};
