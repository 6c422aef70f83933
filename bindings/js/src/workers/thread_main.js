// One thread of a team (threads.js): enters the module and stays there.
import { parent } from '../runtime/host.js';

const { post, listen } = await parent();
listen(({ module, memory, stack, worker }) => {
  const imports = { env: { memory } };
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    // ENOSYS: kernels call nothing
    if (kind === 'function') (imports[from] ??= {})[name] = () => 52;
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  exports.__stack_pointer.value = stack;
  post('ready');
  exports.loom_wasm_join(worker);
});
